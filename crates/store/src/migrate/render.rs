//! One migration text as SQLite's or Postgres's.
//!
//! The dialect is SQL with
//! - column types as capital words: `UUID TIMESTAMP JSON BYTES BOOL INT REAL TEXT VECTOR`;
//! - tables that say whose they are: `CREATE TENANT TABLE t (…)` (one tenant's rows are all it ever sees),
//!   `CREATE SHARED TABLE t VIA scope (…)` (a tenant's own rows, or all through the scope), and
//!   `CREATE PLATFORM TABLE t VIA scope (…)` (only through the scope; `VIA any` for whichever); with `APPEND ONLY` before
//!   the bracket, rows are added and read and never changed or removed;
//! - `-- only sqlite`, `-- only postgres` and `-- both` lines around what must differ.
//!
//! On SQLite tables become STRICT; on Postgres they get row-level security, forced, and the app's rights. What is
//! append-only is held by triggers there and by missing rights here.

use crate::error::{Error, Result};
use crate::postgres::APP_ROLE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SqlDialect {
    Sqlite,
    Postgres,
}

const TYPES: [(&str, &str, &str); 9] = [
    ("UUID", "BLOB", "uuid"),
    ("TIMESTAMP", "INTEGER", "timestamptz"),
    ("JSON", "TEXT", "jsonb"),
    ("BYTES", "BLOB", "bytea"),
    ("BOOL", "INTEGER", "boolean"),
    ("INT", "INTEGER", "bigint"),
    ("REAL", "REAL", "double precision"),
    ("TEXT", "TEXT", "text"),
    ("VECTOR", "BLOB", "vector"),
];

/// A table as its migration declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    name: String,
    kind: Kind,
    append_only: bool,
}

/// Whose rows a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Tenant,
    Shared { scope: String },
    Platform { scope: String },
}

pub(crate) fn render(name: &str, text: &str, engine: SqlDialect) -> Result<String> {
    let text = select_engine(text, engine);
    let mut renderer =
        Renderer { name, engine, out: String::with_capacity(text.len() * 2), table: None, depth: 0 };
    renderer.run(&text)?;
    Ok(renderer.out)
}

fn select_engine(text: &str, engine: SqlDialect) -> String {
    let mut keep = true;
    let mut kept = Vec::new();
    for line in text.lines() {
        match line.trim() {
            "-- only sqlite" => keep = engine == SqlDialect::Sqlite,
            "-- only postgres" => keep = engine == SqlDialect::Postgres,
            "-- both" => keep = true,
            comment if comment.starts_with("--") => {}
            _ if keep => kept.push(line),
            _ => {}
        }
    }
    kept.join("\n")
}

struct Renderer<'a> {
    /// For errors.
    name: &'a str,
    engine: SqlDialect,
    out: String,
    /// The table being made, until its semicolon.
    table: Option<Table>,
    depth: u32,
}

impl Renderer<'_> {
    fn run(&mut self, text: &str) -> Result<()> {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let token = token_of(rest, first);
            rest = &rest[token.len()..];
            match first {
                '(' => self.depth += 1,
                ')' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if token == "DEFERRABLE" {
                let why = "a deferred constraint would fail other units in the same commit";
                return Err(Error::Schema(format!(
                    "migration {}: DEFERRABLE can't be used: {why}",
                    self.name
                )));
            }
            if token == "CREATE" {
                rest = self.render_create(rest)?;
            } else if token == ";" {
                self.end_statement();
            } else {
                self.out.push_str(self.translate_type(token));
                if token == ")"
                    && self.depth == 0
                    && self.table.is_some()
                    && self.engine == SqlDialect::Sqlite
                {
                    self.out.push_str(" STRICT");
                }
            }
        }
        Ok(())
    }

    /// Reads what follows CREATE; anything but one of our tables is passed on untouched.
    fn render_create<'t>(&mut self, rest: &'t str) -> Result<&'t str> {
        let head = rest.split('(').next().unwrap_or_default();
        let words: Vec<&str> = head.split_whitespace().collect();
        let append_only = words.ends_with(&["APPEND", "ONLY"]);
        let declared = words.strip_suffix(&["APPEND", "ONLY"]).unwrap_or(&words);
        let (table, kind) = match declared {
            ["TENANT", "TABLE", table] => (table, Kind::Tenant),
            ["SHARED", "TABLE", table, "VIA", scope] => (table, Kind::Shared { scope: (*scope).to_owned() }),
            ["PLATFORM", "TABLE", table, "VIA", scope] => {
                (table, Kind::Platform { scope: (*scope).to_owned() })
            }
            ["TABLE", table, ..] => {
                return Err(Error::Schema(format!(
                    "migration {}: say whose rows `{table}` holds: CREATE TENANT, SHARED or PLATFORM TABLE",
                    self.name
                )));
            }
            _ => {
                self.out.push_str("CREATE");
                return Ok(rest);
            }
        };
        self.out.push_str(&format!("CREATE TABLE {table} "));
        self.table = Some(Table { name: (*table).to_owned(), kind, append_only });
        Ok(&rest[head.len()..])
    }

    fn end_statement(&mut self) {
        self.out.push(';');
        let Some(table) = self.table.take() else { return };
        match self.engine {
            SqlDialect::Postgres => self.out.push_str(&render_row_security(&table)),
            SqlDialect::Sqlite if table.append_only => {
                self.out.push_str(&render_append_only_triggers(&table.name));
            }
            SqlDialect::Sqlite => {}
        }
    }

    fn translate_type<'t>(&self, token: &'t str) -> &'t str {
        let known = TYPES.iter().find(|(word, _, _)| *word == token);
        match (known, self.engine) {
            (Some((_, sqlite, _)), SqlDialect::Sqlite) => sqlite,
            (Some((_, _, postgres)), SqlDialect::Postgres) => postgres,
            (None, _) => token,
        }
    }
}

/// The next word, quoted string, comment or single character.
fn token_of(rest: &str, first: char) -> &str {
    let length = match first {
        '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
        '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
        letter if letter.is_alphabetic() || letter == '_' => {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        }
        other => other.len_utf8(),
    };
    &rest[..length]
}

/// SQLite has no rights to take away.
fn render_append_only_triggers(table: &str) -> String {
    let refusal = |act: &str| {
        format!(
            "\nCREATE TRIGGER {table}_no_{name} BEFORE {act} ON {table} \
             BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END;",
            name = act.to_lowercase()
        )
    };
    refusal("UPDATE") + &refusal("DELETE")
}

fn render_row_security(table: &Table) -> String {
    let Table { name: table, kind, append_only } = table;
    let rights = if *append_only { "SELECT, INSERT" } else { "SELECT, INSERT, UPDATE, DELETE" };
    let own = "tenant_id = (SELECT nullif(current_setting('app.tenant_id', true), '')::uuid)";
    let through = |scope: &str| match scope {
        "any" => "(SELECT nullif(current_setting('app.door', true), '')) IS NOT NULL".to_owned(),
        scope => format!("(SELECT current_setting('app.door', true)) = '{scope}'"),
    };
    let rule = match kind {
        Kind::Tenant => own.to_owned(),
        Kind::Shared { scope } => format!("{own} OR {}", through(scope)),
        Kind::Platform { scope } => through(scope),
    };
    format!(
        "\nALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\
         \nALTER TABLE {table} FORCE ROW LEVEL SECURITY;\
         \nCREATE POLICY scope ON {table} USING ({rule}) WITH CHECK ({rule});\
         \nGRANT {rights} ON {table} TO {APP_ROLE};"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        -- what it is for
        CREATE TENANT TABLE notes (
          tenant_id UUID NOT NULL,
          at TIMESTAMP NOT NULL, -- a UUID in a comment stays
          kind TEXT NOT NULL CHECK (kind IN ('JSON', 'it''s; TEXT'))
        );
        CREATE INDEX notes_at ON notes (tenant_id, at);
        -- only sqlite
        CREATE TABLE_FOR_SQLITE;
        -- only postgres
        CREATE EXTENSION vector;
        -- both
        CREATE PLATFORM TABLE keys VIA keys (id UUID PRIMARY KEY);
    ";

    fn squeezed(engine: SqlDialect) -> String {
        render("0001_x", TEXT, engine).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sqlite_gets_strict_tables() {
        assert_eq!(
            squeezed(SqlDialect::Sqlite),
            "CREATE TABLE notes ( tenant_id BLOB NOT NULL, at INTEGER NOT NULL, -- a UUID in a comment stays kind \
             TEXT NOT NULL CHECK (kind IN ('JSON', 'it''s; TEXT')) ) STRICT; CREATE INDEX notes_at ON notes \
             (tenant_id, at); CREATE TABLE_FOR_SQLITE; CREATE TABLE keys (id BLOB PRIMARY KEY) STRICT;"
        );
    }

    #[test]
    fn postgres_gets_row_level_security() {
        let text = squeezed(SqlDialect::Postgres);
        assert!(text.contains("tenant_id uuid NOT NULL, at timestamptz NOT NULL"), "{text}");
        assert!(text.contains("ALTER TABLE notes FORCE ROW LEVEL SECURITY"), "{text}");
        assert!(text.contains("current_setting('app.door', true)) = 'keys'"), "{text}");
        assert!(text.contains("CREATE EXTENSION vector") && !text.contains("TABLE_FOR_SQLITE"), "{text}");
        assert!(!text.contains("STRICT"), "{text}");
    }

    #[test]
    fn what_is_append_only_can_not_be_changed() {
        let text = "CREATE SHARED TABLE log VIA log APPEND ONLY (tenant_id UUID NOT NULL);";
        let postgres = render("0001_x", text, SqlDialect::Postgres).unwrap();
        assert!(postgres.contains("GRANT SELECT, INSERT ON log TO munshi_app;"), "{postgres}");
        assert!(postgres.contains("app.door', true)) = 'log'"), "{postgres}");
        let sqlite = render("0001_x", text, SqlDialect::Sqlite).unwrap();
        assert!(sqlite.contains("(tenant_id BLOB NOT NULL) STRICT;"), "{sqlite}");
        for act in ["update BEFORE UPDATE", "delete BEFORE DELETE"] {
            assert!(sqlite.contains(&format!("CREATE TRIGGER log_no_{act} ON log")), "{sqlite}");
        }
    }

    #[test]
    fn a_table_must_say_whose_rows_it_holds() {
        let error =
            render("0009_x", "CREATE TABLE t (id UUID);", SqlDialect::Sqlite).unwrap_err().to_string();
        assert!(error.contains("migration 0009_x: say whose rows `t` holds"), "{error}");
        let text = "CREATE TENANT TABLE t (p UUID REFERENCES tenants (id) DEFERRABLE INITIALLY DEFERRED);";
        let error = render("0009_x", text, SqlDialect::Sqlite).unwrap_err().to_string();
        assert!(error.contains("DEFERRABLE can't be used"), "{error}");
    }
}
