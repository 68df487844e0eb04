//! The table the store's own tests use.
#![allow(dead_code, reason = "each test program uses its own part")]

use munshi_store::{Error, Migration, Result, Tx, params};
use uuid::Uuid;

pub(crate) const NOTES: &[Migration] = &[Migration {
    name: "9001_notes",
    text: "
        -- only postgres
        CREATE EXTENSION IF NOT EXISTS vector;
        -- both
        CREATE TENANT TABLE notes (
          tenant_id UUID NOT NULL REFERENCES tenants (id),
          id UUID NOT NULL,
          body TEXT NOT NULL CHECK (body <> 'forbidden'),
          done BOOL NOT NULL DEFAULT FALSE,
          PRIMARY KEY (tenant_id, id)
        );
        CREATE TENANT TABLE samples (
          tenant_id UUID NOT NULL,
          id INT NOT NULL,
          flag BOOL, whole INT, fraction REAL, words TEXT, raw BYTES, key UUID, at TIMESTAMP, doc JSON, mark VECTOR,
          PRIMARY KEY (tenant_id, id)
        );
    ",
}];

pub(crate) fn add(tx: &mut Tx<'_>, body: &str) -> Result<Uuid> {
    let id = munshi_types::IdGenerator::system().next::<munshi_types::JobId>();
    let id = munshi_types::Id::as_uuid(id);
    tx.execute("INSERT INTO notes (tenant_id, id, body) VALUES ($1, $2, $3)", params![id, body])?;
    Ok(id)
}

/// The same, with nobody waiting for it.
pub(crate) fn send(tx: &mut Tx<'_>, body: &str) -> Result<()> {
    let id = munshi_types::Id::as_uuid(munshi_types::IdGenerator::system().next::<munshi_types::JobId>());
    tx.send("INSERT INTO notes (tenant_id, id, body) VALUES ($1, $2, $3)", params![id, body])
}

pub(crate) fn bodies(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    tx.all("SELECT body FROM notes WHERE tenant_id = $1 ORDER BY body", &[], |row| row.get("body"))
}

/// An error of a caller's own, to show that units answer in the caller's terms.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Mine,
    Store(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Store(error.to_string())
    }
}
