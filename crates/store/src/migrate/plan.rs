//! What a database has, what it lacks, and what to do about it.

use std::path::PathBuf;

use munshi_types::Timestamp;
use serde::Serialize;

use super::{Migration, Migrations};
use crate::address::DatabaseAddress;
use crate::error::{Error, Result};
use crate::options::StoreOptions;

/// A migration the database has, as it recorded it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppliedMigration {
    pub number: u32,
    pub name: String,
    pub checksum: String,
}

/// How a database stands to this binary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MigrationState {
    pub applied: Vec<AppliedMigration>,
    /// Names of those it still lacks, in order.
    pub pending: Vec<&'static str>,
}

/// What to migrate, and how carefully.
#[derive(Clone, Debug)]
pub struct MigrationRequest {
    pub address: DatabaseAddress,
    /// Postgres: the login that owns the tables, when the app's own does not.
    pub owner: Option<DatabaseAddress>,
    pub options: StoreOptions,
    pub migrations: Migrations,
    /// Recorded with each migration.
    pub now: Timestamp,
    /// SQLite: where to put a copy of the database first; none to go without.
    pub backups: Option<PathBuf>,
}

/// What migrating did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MigrationOutcome {
    pub applied: Vec<&'static str>,
    pub backup: Option<PathBuf>,
}

/// What is still to apply. Refused: a database that knows more than this binary, and a migration that was altered,
/// renamed or slipped in below one that is already there.
pub(super) fn find_pending<'m>(
    applied: &[AppliedMigration],
    migrations: &'m Migrations,
) -> Result<Vec<&'m Migration>> {
    let newest = applied.iter().map(|row| row.number).max().unwrap_or(0);
    for row in applied {
        let known = migrations.iter().find(|migration| migration.number().ok() == Some(row.number));
        match known {
            None => return Err(newer_schema_error(row)),
            Some(known) if known.name != row.name || known.checksum() != row.checksum => {
                return Err(Error::Schema(format!(
                    "migration {} differs from the one applied to this database: migrations are only ever added. \
                     Use the program version that applied it, or restore the original text",
                    row.name
                )));
            }
            Some(_) => {}
        }
    }
    let mut missing = Vec::new();
    for migration in migrations.iter() {
        let number = migration.number()?;
        if applied.iter().any(|row| row.number == number) {
            continue;
        }
        if number < newest {
            return Err(Error::Schema(format!(
                "migration {} comes before one that is already applied ({newest:04}): give it a higher number",
                migration.name
            )));
        }
        missing.push(migration);
    }
    Ok(missing)
}

fn newer_schema_error(row: &AppliedMigration) -> Error {
    Error::Schema(format!(
        "this database was made by a newer Munshi (it has migration {}): install that version or newer, \
         or restore a backup made before the upgrade",
        row.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Migration = Migration { name: "0001_first", text: "one" };
    const SECOND: Migration = Migration { name: "0002_second", text: "two" };

    fn row(migration: &Migration) -> AppliedMigration {
        AppliedMigration {
            number: migration.number().unwrap(),
            name: migration.name.to_owned(),
            checksum: migration.checksum(),
        }
    }

    fn names(applied: &[AppliedMigration], lists: &[&[Migration]]) -> Result<Vec<&'static str>> {
        let migrations = Migrations::new(lists)?;
        Ok(find_pending(applied, &migrations)?.iter().map(|migration| migration.name).collect())
    }

    #[test]
    fn one_order_across_crates() {
        assert_eq!(names(&[], &[&[SECOND], &[FIRST]]).unwrap(), ["0001_first", "0002_second"]);
        assert_eq!(names(&[row(&FIRST)], &[&[SECOND], &[FIRST]]).unwrap(), ["0002_second"]);
    }

    #[test]
    fn what_can_not_be_right_is_refused() {
        let refusal = |applied: &[AppliedMigration], lists: &[&[Migration]]| {
            names(applied, lists).unwrap_err().to_string()
        };
        assert!(refusal(&[row(&FIRST), row(&SECOND)], &[&[FIRST]]).contains("newer Munshi"));
        assert!(refusal(&[row(&SECOND)], &[&[FIRST, SECOND]]).contains("give it a higher number"));
        let altered = Migration { text: "other", ..FIRST };
        assert!(refusal(&[row(&FIRST)], &[&[altered]]).contains("only ever added"));
        let twin = Migration { name: "0001_twin", text: "" };
        assert!(refusal(&[], &[&[FIRST], &[twin]]).contains("two migrations have the number 1"));
    }
}
