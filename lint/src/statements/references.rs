//! A tenant's table names its tenant, and points only at rows of the same tenant.

use super::TENANT;
use super::declarations::{Declaration, Item, Place};
use super::schema::Schema;
use crate::finding::Finding;

pub(super) fn check(declaration: &Declaration, schema: &Schema) -> Vec<Finding> {
    match declaration {
        Declaration::Table { place, name, kind, items, .. } if kind.has_tenants() => {
            let mut findings = tenant_column(place, name, items);
            findings.extend(items.iter().flat_map(|item| references(place, name, item, schema)));
            findings
        }
        Declaration::Altered { place, name, item }
            if schema.kind(name).is_some_and(super::schema::Kind::has_tenants) =>
        {
            references(place, name, item, schema)
        }
        Declaration::Unowned { place, name } => vec![finding(
            place,
            format!("`{name}` does not declare whose rows it contains"),
            "write CREATE TENANT, SHARED or PLATFORM TABLE",
        )],
        _ => Vec::new(),
    }
}

fn tenant_column(place: &Place, table: &str, items: &[Item]) -> Vec<Finding> {
    let not_null = |item: &Item| item.windows(2).any(|pair| pair == ["not", "null"]);
    let column = items.iter().find(|item| item.first().is_some_and(|name| name == TENANT));
    if column.is_some_and(not_null) {
        return Vec::new();
    }
    vec![finding(
        place,
        format!("`{table}` does not always say which tenant a row belongs to"),
        "give it a column tenant_id that is NOT NULL",
    )]
}

/// The foreign keys of one column or constraint.
fn references(place: &Place, table: &str, item: &Item, schema: &Schema) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in (0..item.len()).filter(|at| item[*at] == "references") {
        let Some(target) = item.get(at + 1) else { continue };
        match schema.kind(target) {
            None => findings.push(finding(
                place,
                format!("`{table}` points at `{target}`, which no migration makes"),
                "name a table that exists",
            )),
            Some(kind) if kind.has_tenants() && !keeps_to_tenant(item, at) => findings.push(finding(
                place,
                format!("`{table}` could point at another tenant's row of `{target}`"),
                "write FOREIGN KEY (tenant_id, …) REFERENCES … (tenant_id, …)",
            )),
            Some(_) => {}
        }
    }
    findings
}

/// Whether tenant_id stands at the same place in both lists of columns.
fn keeps_to_tenant(item: &Item, references: usize) -> bool {
    let own = match item.windows(2).position(|pair| pair == ["foreign", "key"]) {
        Some(at) => columns(&item[at + 2..]),
        None => item.iter().take(1).cloned().collect(),
    };
    let other = columns(&item[references + 2..]);
    let place = |columns: &[String]| columns.iter().position(|column| column == TENANT);
    place(&own).is_some() && place(&own) == place(&other)
}

/// The names in the brackets that open here.
fn columns(words: &[String]) -> Vec<String> {
    match words.first() {
        Some(open) if open == "(" => {
            words[1..].iter().take_while(|word| *word != ")").filter(|word| *word != ",").cloned().collect()
        }
        _ => Vec::new(),
    }
}

fn finding(place: &Place, what: String, advice: &str) -> Finding {
    Finding::new(&place.path, place.line, what, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let notes = "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, id UUID);
            CREATE PLATFORM TABLE tenants VIA any (id UUID PRIMARY KEY);";
        Schema::from_text(&format!("{notes}{text}")).1.iter().map(|finding| finding.what.clone()).collect()
    }

    #[test]
    fn tables_that_keep_to_their_tenant_are_fine() {
        for good in [
            "CREATE TENANT TABLE a (id UUID, tenant_id UUID NOT NULL);",
            "CREATE SHARED TABLE a VIA jobs (\n -- a comment, with commas (and brackets\n tenant_id UUID NOT NULL);",
            "CREATE PLATFORM TABLE a VIA keys (id UUID);",
            "CREATE TENANT TABLE a (tenant_id UUID NOT NULL REFERENCES tenants (id), n INT CHECK (n IN (1, 2)));",
            "CREATE TENANT TABLE a (tenant_id UUID NOT NULL, note UUID,
               FOREIGN KEY (tenant_id, note) REFERENCES notes (tenant_id, id));",
            "CREATE TENANT TABLE a (tenant_id UUID NOT NULL, note UUID,
               CONSTRAINT a_note FOREIGN KEY (note, tenant_id) REFERENCES notes (id, tenant_id) ON DELETE CASCADE);",
            "CREATE INDEX notes_at ON notes (tenant_id, id);",
            "ALTER TABLE notes ADD COLUMN owner UUID REFERENCES tenants (id);",
        ] {
            assert_eq!(findings(good), Vec::<String>::new(), "{good}");
        }
    }

    #[test]
    fn a_tenants_table_names_its_tenant() {
        for bad in [
            "CREATE TENANT TABLE a (id UUID NOT NULL);",
            "CREATE TENANT TABLE a (tenant_id UUID, id UUID NOT NULL);",
            "CREATE SHARED TABLE a VIA x (id UUID PRIMARY KEY);",
        ] {
            assert_eq!(findings(bad), ["`a` does not always say which tenant a row belongs to"], "{bad}");
        }
        assert_eq!(findings("CREATE TABLE a (id UUID);"), ["`a` does not declare whose rows it contains"]);
    }

    #[test]
    fn a_foreign_key_keeps_to_the_tenant() {
        for bad in [
            "CREATE TENANT TABLE a (tenant_id UUID NOT NULL, note UUID REFERENCES notes (id));",
            "CREATE TENANT TABLE a (tenant_id UUID NOT NULL, note UUID REFERENCES notes);",
            "CREATE TENANT TABLE a (tenant_id UUID NOT NULL, note UUID, FOREIGN KEY (note) REFERENCES notes (id));",
            "CREATE TENANT TABLE a (tenant_id UUID NOT NULL, note UUID,
               FOREIGN KEY (tenant_id, note) REFERENCES notes (id, tenant_id));",
            "CREATE TENANT TABLE a (tenant_id UUID NOT NULL); ALTER TABLE a ADD COLUMN b UUID REFERENCES notes (id);",
        ] {
            assert_eq!(findings(bad), ["`a` could point at another tenant's row of `notes`"], "{bad}");
        }
        let unknown = "CREATE TENANT TABLE a (tenant_id UUID NOT NULL REFERENCES nowhere (id));";
        assert_eq!(findings(unknown), ["`a` points at `nowhere`, which no migration makes"]);
    }
}
