//! Policies as the store keeps them: every version, the newest in force.

use munshi_store::{JsonText, Tx, params};
use munshi_types::Timestamp;
use serde::Serialize;

use super::Policy;
use crate::error::Result;

/// One version, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyVersion {
    pub version: i64,
    pub author: String,
    pub note: String,
    pub made_at: Timestamp,
}

/// The policy in force and its version; the empty one, version 0, where there is none.
pub fn load_current(tx: &mut Tx<'_>) -> Result<(i64, Policy)> {
    let found = tx.optional(
        "SELECT version, body FROM policies WHERE tenant_id = $1 ORDER BY version DESC LIMIT 1",
        &[],
        |row| Ok((row.get::<i64>(0)?, row.get::<JsonText>(1)?)),
    )?;
    match found {
        None => Ok((0, Policy::default())),
        Some((version, body)) => Ok((version, body.read()?)),
    }
}

/// The number of the version in force; 0 where there is none.
pub fn load_version(tx: &mut Tx<'_>) -> Result<i64> {
    let newest = tx.one("SELECT MAX(version) FROM policies WHERE tenant_id = $1", &[], |row| {
        row.get::<Option<i64>>(0)
    })?;
    Ok(newest.unwrap_or(0))
}

/// Puts a policy in force, if it says something else than the one that is. Gives the version in force.
pub fn apply(tx: &mut Tx<'_>, policy: &Policy, author: &str, note: &str, now: Timestamp) -> Result<i64> {
    let (version, known) = load_current(tx)?;
    if version > 0 && known == *policy {
        return Ok(version);
    }
    tx.execute(
        "INSERT INTO policies (tenant_id, version, body, author, note, made_at) VALUES ($1, $2, $3, $4, $5, $6)",
        params![version + 1, JsonText::of(policy)?, author, note, now],
    )?;
    Ok(version + 1)
}

/// Every version with what it said, the newest first.
pub fn list_versions(tx: &mut Tx<'_>) -> Result<Vec<(PolicyVersion, Policy)>> {
    let rows = tx.all(
        "SELECT version, author, note, made_at, body FROM policies WHERE tenant_id = $1 ORDER BY version DESC",
        &[],
        |row| {
            let version = PolicyVersion {
                version: row.get(0)?,
                author: row.get(1)?,
                note: row.get(2)?,
                made_at: row.get(3)?,
            };
            Ok((version, row.get::<JsonText>(4)?.read()?))
        },
    )?;
    Ok(rows)
}
