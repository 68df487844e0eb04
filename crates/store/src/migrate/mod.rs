//! Migrations: each lives with its crate, all stand in one order, and none is ever changed.
//!
//! A migration is one text in a small dialect (see [`render`]) that becomes SQLite's or Postgres's. Its checksum
//! covers the text as written, so that a clearer rendering later does not look like an altered migration.

mod apply;
mod plan;
mod postgres;
pub(crate) mod render;
mod sqlite;

pub(crate) use apply::require_current;
pub use apply::{load_state, run};
pub use plan::{AppliedMigration, MigrationOutcome, MigrationRequest, MigrationState};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// One step of the schema. Make it with [`migration!`](crate::migration).
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// `0007_jobs`: a number that no other crate uses, and what it is about.
    pub name: &'static str,
    pub text: &'static str,
}

/// Includes `migrations/NAME.sql` of the calling crate.
#[macro_export]
macro_rules! migration {
    ($name:literal) => {
        $crate::Migration {
            name: $name,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/", $name, ".sql")),
        }
    };
}

impl Migration {
    pub fn number(&self) -> Result<u32> {
        let digits = self.name.split('_').next().unwrap_or_default();
        digits.parse().map_err(|_| {
            Error::Schema(format!("the migration `{}` must begin with its number, like 0007_jobs", self.name))
        })
    }

    pub(crate) fn checksum(&self) -> String {
        Sha256::digest(self.text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The migrations of every crate, in their one order.
#[derive(Clone, Debug)]
pub struct Migrations(Vec<Migration>);

impl Migrations {
    pub fn new(crates: &[&[Migration]]) -> Result<Self> {
        let mut all: Vec<Migration> = crates.iter().flat_map(|list| list.iter().copied()).collect();
        let mut numbers = all.iter().map(Migration::number).collect::<Result<Vec<_>>>()?;
        numbers.sort_unstable();
        if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Schema(format!("two migrations have the number {}", pair[0])));
        }
        all.sort_by_key(|migration| migration.number().unwrap_or(0));
        Ok(Self(all))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Migration> {
        self.0.iter()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
