//! What was brought, while its run needs it.

use std::time::Duration;

use munshi_store::{JsonText, Result, Row, SealedBy, SealedColumn, Tx, params};
use munshi_types::{RunId, Timestamp};
use serde_json::{Map, Value};

use super::ClientContext;
use crate::columns::{read_optional_sealed_json, read_sealed_json};
use crate::snapshot::RunSnapshot;

const BODY: SealedColumn = SealedColumn::new("brought", "body");
const CARRIED: SealedColumn = SealedColumn::new("brought", "carried");

/// How long somebody may take to come back with a tool's answer.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub(crate) fn add(
    tx: &mut Tx<'_>,
    (run, by): (RunId, SealedBy),
    client_context: &ClientContext,
    now: Timestamp,
) -> Result<()> {
    let body = tx.seal_json(by, BODY.cell(run), client_context)?;
    tx.execute("DELETE FROM brought WHERE tenant_id = $1 AND at < $2", params![now.minus(KEPT)])?;
    tx.execute(
        "INSERT INTO brought (tenant_id, run_id, body, at) VALUES ($1, $2, $3, $4)",
        params![run, body, now],
    )?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, run: RunId) -> Result<Option<ClientContext>> {
    let read = |row: &Row<'_>| read_sealed_json(row, "body", BODY.cell(run));
    tx.optional("SELECT body FROM brought WHERE tenant_id = $1 AND run_id = $2", params![run], read)
}

/// What a run had done when it handed calls to the program.
pub(crate) fn find_snapshot(tx: &mut Tx<'_>, run: RunId) -> Result<Option<RunSnapshot>> {
    let read = |row: &Row<'_>| read_optional_sealed_json(row, "carried", CARRIED.cell(run));
    let found =
        tx.optional("SELECT carried FROM brought WHERE tenant_id = $1 AND run_id = $2", params![run], read)?;
    Ok(found.flatten())
}

/// The run has ended by handing calls to the program.
pub(crate) fn store_snapshot(
    tx: &mut Tx<'_>,
    (run, by): (RunId, SealedBy),
    snapshot: &RunSnapshot,
    now: Timestamp,
) -> Result<()> {
    let carried = tx.seal_json(by, CARRIED.cell(run), snapshot)?;
    tx.execute(
        "UPDATE brought SET body = $3, carried = $4, at = $5 WHERE tenant_id = $1 AND run_id = $2",
        params![run, JsonText::of(&Value::Object(Map::default()))?, carried, now],
    )?;
    Ok(())
}

/// The run has ended otherwise.
pub(crate) fn delete(tx: &mut Tx<'_>, run: RunId) -> Result<()> {
    tx.execute("DELETE FROM brought WHERE tenant_id = $1 AND run_id = $2", params![run])?;
    Ok(())
}
