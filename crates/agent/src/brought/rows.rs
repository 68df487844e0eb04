//! What was brought, while its run needs it.

use std::time::Duration;

use munshi_store::{Json, Result, Row, Tx, params};
use munshi_types::{RunId, Timestamp};
use serde_json::{Map, Value};

use super::Brought;
use crate::columns::{json, json_if_any};
use crate::snapshot::Snapshot;

/// How long somebody may take to come back with a tool's answer.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub(crate) fn add(tx: &mut Tx<'_>, run: RunId, brought: &Brought, now: Timestamp) -> Result<()> {
    tx.execute("DELETE FROM brought WHERE tenant_id = $1 AND at < $2", params![now.minus(KEPT)])?;
    tx.execute(
        "INSERT INTO brought (tenant_id, run_id, body, at) VALUES ($1, $2, $3, $4)",
        params![run, Json::of(brought)?, now],
    )?;
    Ok(())
}

pub(crate) fn find(tx: &mut Tx<'_>, run: RunId) -> Result<Option<Brought>> {
    let read = |row: &Row<'_>| json(row, "body");
    tx.optional("SELECT body FROM brought WHERE tenant_id = $1 AND run_id = $2", params![run], read)
}

/// What a run had done when it handed calls to the program.
pub(crate) fn carried(tx: &mut Tx<'_>, run: RunId) -> Result<Option<Snapshot>> {
    let read = |row: &Row<'_>| json_if_any(row, "carried");
    let found =
        tx.optional("SELECT carried FROM brought WHERE tenant_id = $1 AND run_id = $2", params![run], read)?;
    Ok(found.flatten())
}

/// The run has ended by handing calls to the program.
pub(crate) fn carry(tx: &mut Tx<'_>, run: RunId, snapshot: &Snapshot, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE brought SET body = $3, carried = $4, at = $5 WHERE tenant_id = $1 AND run_id = $2",
        params![run, Json::of(&Value::Object(Map::default()))?, Json::of(snapshot)?, now],
    )?;
    Ok(())
}

/// The run has ended otherwise.
pub(crate) fn drop_body(tx: &mut Tx<'_>, run: RunId) -> Result<()> {
    tx.execute("DELETE FROM brought WHERE tenant_id = $1 AND run_id = $2", params![run])?;
    Ok(())
}
