//! Whose rows each table holds.

use std::collections::{BTreeMap, BTreeSet};

use super::declarations::{self, Declaration};
use super::literals::Literal;
use super::references;
use crate::finding::Finding;
use crate::workspace::{Source, Workspace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One tenant's rows are all that is ever seen.
    Tenant,
    /// A tenant's own rows, or all of them through a door.
    Shared,
    /// Only through a door.
    Platform,
    /// The store's own bookkeeping, made outside of migrations.
    Store,
}

impl Kind {
    /// Whether a tenant's statement must be held to its tenant on such a table.
    pub fn has_tenants(self) -> bool {
        matches!(self, Self::Tenant | Self::Shared)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Schema {
    tables: BTreeMap<String, Kind>,
    /// Tables whose rows are never changed or removed.
    append_only: BTreeSet<String>,
}

/// The schema as code in one crate may see it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    schema: &'a Schema,
    in_store: bool,
}

impl Schema {
    /// Reads every migration, and the tables that the store makes for itself; tells what is wrong with them.
    pub fn read(workspace: &Workspace, files: &[(&Source, Vec<Literal>)]) -> (Self, Vec<Finding>) {
        let mut declarations: Vec<Declaration> =
            workspace.migrations().flat_map(declarations::read_migration).collect();
        let mut schema = Self::default();
        for (source, literals) in files {
            let declared =
                literals.iter().flat_map(|literal| declarations::read_literal(&source.path, literal));
            declarations.extend(declared);
            if super::is_store(source) {
                let own = literals.iter().filter_map(|literal| declarations::find_plain_table(&literal.text));
                schema.tables.extend(own.map(|name| (name, Kind::Store)));
            }
        }
        for declaration in &declarations {
            schema.add(declaration);
        }
        let findings = declarations.iter().flat_map(|declaration| references::check(declaration, &schema));
        let findings = findings.collect();
        (schema, findings)
    }

    /// A schema from the text of one migration; for tests.
    pub fn from_text(text: &str) -> (Self, Vec<Finding>) {
        Self::read(&Workspace::from_files(&[("crates/a/migrations/0001_a.sql", text)]), &[])
    }

    fn add(&mut self, declaration: &Declaration) {
        match declaration {
            Declaration::Table { name, kind, is_append_only, .. } => {
                self.tables.insert(name.clone(), *kind);
                self.append_only.extend(is_append_only.then(|| name.clone()));
            }
            Declaration::Renamed { from, to } => {
                if let Some(kind) = self.tables.get(from).copied() {
                    self.tables.insert(to.clone(), kind);
                }
            }
            Declaration::Altered { .. } | Declaration::Unowned { .. } => {}
        }
    }

    pub fn kind(&self, table: &str) -> Option<Kind> {
        self.tables.get(&table.to_lowercase()).copied()
    }

    pub fn view_from(&self, in_store: bool) -> View<'_> {
        View { schema: self, in_store }
    }
}

impl View<'_> {
    /// The kind of a table by its parts, `["notes"]` or `["information_schema", "columns"]`; none when it is not
    /// known here.
    pub fn kind(&self, parts: &[String]) -> Option<Kind> {
        match parts {
            [name] => match self.schema.kind(name) {
                Some(Kind::Store) => self.in_store.then_some(Kind::Store),
                Some(kind) => Some(kind),
                None => (self.in_store && is_engines_own(name)).then_some(Kind::Store),
            },
            [schema, _] if self.in_store => is_engines_own(schema).then_some(Kind::Store),
            _ => None,
        }
    }

    pub fn is_append_only(&self, name: &str) -> bool {
        self.schema.append_only.contains(&name.to_lowercase())
    }

    /// Whether any table goes by this name, seen from here or not.
    pub fn is_taken(&self, name: &str) -> bool {
        self.schema.kind(name).is_some()
    }
}

fn is_engines_own(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with("pg_") || name.starts_with("sqlite_") || name == "information_schema"
}
