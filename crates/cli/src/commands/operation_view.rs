//! Views of operations that have no command written for them: a list as a table, one thing as lines, in the order in which
//! the view declares its fields.

use munshi_pack::operation::OperationShape;
use serde_json::Value;
use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::{RefOr, Schema};

use crate::output::table::OutputTable;
use crate::output::{TextStyler, sanitize_text};

/// Wider cells are cut in a table; `show` and `--json` have all of it.
const WIDEST: usize = 48;
/// A hash that is longer is of no use in a table.
const LONGEST_HASH: usize = 40;

type Components = Vec<(String, RefOr<Schema>)>;

pub(super) fn render(entry: &OperationShape, view: &Value, painter: TextStyler) -> String {
    let (components, schema) = (entry.component_schemas(), entry.view_schema().1);
    match view["items"].as_array() {
        Some(items) => {
            let declared = find_item_schema(&schema, &components).map(|item| list_fields(item, &components));
            render_table(&declared.unwrap_or_default(), items, view["next"].as_str(), painter)
        }
        None => render_lines(&list_fields(&schema, &components), view),
    }
}

fn render_table(declared: &[String], items: &[Value], next: Option<&str>, painter: TextStyler) -> String {
    let Some(first) = items.first() else {
        // A page of a search may have nothing and not be the last.
        return next.map_or_else(
            || "Nothing to show.".to_owned(),
            |next| format!("Nothing here. More rows: add --after {next}\n"),
        );
    };
    let columns = sort_names(declared, first);
    let columns: Vec<&str> = columns.into_iter().filter(|name| is_shown(items, name)).collect();
    let headings: Vec<String> = columns.iter().map(|name| name.to_uppercase().replace('_', " ")).collect();
    let mut table = OutputTable::new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for item in items {
        table.add_row(columns.iter().map(|name| shorten(&to_text(&item[*name])).into()));
    }
    let mut text = table.render(painter);
    if let Some(next) = next {
        text += &format!("More rows: add --after {next}\n");
    }
    text
}

fn render_lines(declared: &[String], view: &Value) -> String {
    let names = sort_names(declared, view);
    names.iter().map(|name| format!("{}: {}\n", name.replace('_', " "), to_text(&view[*name]))).collect()
}

/// The names that a value has, as they are declared; what is not declared comes last.
fn sort_names<'a>(declared: &'a [String], value: &'a Value) -> Vec<&'a str> {
    let known = declared.iter().map(String::as_str).filter(|name| value.get(name).is_some());
    let others = value.as_object().into_iter().flat_map(|object| object.keys().map(String::as_str));
    let others = others.filter(|name| !declared.iter().any(|known| known == name));
    known.chain(others).collect()
}

/// What a page has items of.
fn find_item_schema<'a>(page: &'a RefOr<Schema>, components: &'a Components) -> Option<&'a RefOr<Schema>> {
    let RefOr::T(Schema::Object(object)) = resolve(page, components)? else { return None };
    let RefOr::T(Schema::Array(array)) = object.properties.get("items")? else { return None };
    match &array.items {
        ArrayItems::RefOrSchema(item) => Some(item),
        ArrayItems::False => None,
    }
}

/// The fields of an object, those of others that it takes in among them.
fn list_fields(schema: &RefOr<Schema>, components: &Components) -> Vec<String> {
    match resolve(schema, components) {
        Some(RefOr::T(Schema::Object(object))) => object.properties.keys().cloned().collect(),
        Some(RefOr::T(Schema::AllOf(parts))) => {
            parts.items.iter().flat_map(|part| list_fields(part, components)).collect()
        }
        _ => Vec::new(),
    }
}

fn resolve<'a>(schema: &'a RefOr<Schema>, components: &'a Components) -> Option<&'a RefOr<Schema>> {
    match schema {
        RefOr::T(_) => Some(schema),
        RefOr::Ref(other) => {
            let name = other.ref_location.rsplit('/').next()?;
            components.iter().find(|(known, _)| known == name).map(|(_, schema)| schema)
        }
    }
}

/// Whether a column has words or numbers, any at all, and no long hashes.
fn is_shown(items: &[Value], name: &str) -> bool {
    let values = || items.iter().map(|item| &item[name]).filter(|value| !value.is_null());
    let is_plain = values().all(|value| !value.is_object() && !value.is_array());
    let is_hash = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        text.len() > LONGEST_HASH && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    is_plain && values().next().is_some() && !values().all(is_hash)
}

fn to_text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => sanitize_text(text),
        other => sanitize_text(&other.to_string()),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use munshi_operations::HOUSE;
    use serde_json::json;

    use super::*;

    fn find_entry(id: &str) -> &'static OperationShape {
        HOUSE.iter().find(|entry| entry.spec.id() == id).unwrap()
    }

    #[test]
    fn columns_stand_as_they_are_declared_and_hashes_are_left_out() {
        let hash = "0f".repeat(32);
        let page = json!({ "next": null, "items": [
            { "at": "now", "what": "too long", "rule": "length", "id": "1", "extra": "x", "more": hash, "tier": null },
            { "at": "then", "what": "too short", "rule": "length", "id": "2", "extra": null, "more": null, "tier": null },
        ] });
        let text = render(find_entry("list_violations"), &page, TextStyler::Plain);
        let first = text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(first, ["ID", "RULE", "WHAT", "AT", "EXTRA"], "{text}");
        assert!(text.contains("too short") && !text.contains(&hash), "{text}");
    }

    #[test]
    fn one_thing_has_all_of_its_fields() {
        let hash = "0f".repeat(32);
        let job = json!({ "attempt": 1, "kind": "letter", "id": "1", "digest": hash });
        let text = render(find_entry("read_job"), &job, TextStyler::Plain);
        assert_eq!(text, format!("id: 1\nkind: letter\nattempt: 1\ndigest: {hash}\n"));
    }

    #[test]
    fn every_list_knows_the_fields_of_its_items() {
        for entry in HOUSE.iter().filter(|entry| entry.spec.verb == "list") {
            let (components, schema) = (entry.component_schemas(), entry.view_schema().1);
            // Models are no page.
            let Some(item) = find_item_schema(&schema, &components) else {
                assert_eq!(entry.spec.id(), "list_model_targets");
                continue;
            };
            assert!(!list_fields(item, &components).is_empty(), "{}", entry.spec.id());
        }
    }
}
