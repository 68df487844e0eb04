//! How far a tenant's index is.

use munshi_store::{Cursor, Result, Row, Tx, params};

/// The way words are cut and hashed, and rows are written.
pub const VERSION: i64 = 1;
/// Of an index that is to be cleared, or was never begun.
const UNBUILT: i64 = 0;

/// So many rows are cleared in one unit.
const CLEARED: i64 = 2_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexState {
    pub(crate) version: i64,
    pub(crate) next_number: i64,
    /// Every text up to here has been looked at.
    pub filled: Cursor,
}

impl IndexState {
    pub(crate) const fn is_current(&self) -> bool {
        self.version == VERSION
    }
}

/// None where nothing can be found by it: it was never begun, or is of another version and about to be cleared.
pub fn find_state(tx: &mut Tx<'_>) -> Result<Option<IndexState>> {
    let found = tx.optional(
        "SELECT version, next_number, filled_at, filled_id FROM search_indexes WHERE tenant_id = $1",
        &[],
        read,
    )?;
    Ok(found.filter(IndexState::is_current))
}

/// Whether there is one that has to be cleared before anything is found by it.
pub fn needs_clearing(tx: &mut Tx<'_>) -> Result<bool> {
    let found = tx.optional(
        "SELECT version, next_number, filled_at, filled_id FROM search_indexes WHERE tenant_id = $1",
        &[],
        read,
    )?;
    Ok(found.is_some_and(|state| !state.is_current()))
}

/// The state, of whatever version, held until the unit ends. Whoever changes anything of an index holds it.
pub(crate) fn lock_state(tx: &mut Tx<'_>) -> Result<IndexState> {
    // Made where it is missing, so that there is always something to hold.
    tx.send(
        "INSERT INTO search_indexes (tenant_id, version, next_number, filled_at, filled_id)
         VALUES ($1, $2, 0, $3, $4) ON CONFLICT (tenant_id) DO NOTHING",
        params![UNBUILT, Cursor::OLDEST.time, Cursor::OLDEST.id],
    )?;
    tx.one(
        (
            "SELECT version, next_number, filled_at, filled_id FROM search_indexes WHERE tenant_id = $1",
            "SELECT version, next_number, filled_at, filled_id FROM search_indexes WHERE tenant_id = $1 FOR UPDATE",
        ),
        &[],
        read,
    )
}

pub(crate) fn save_state(tx: &mut Tx<'_>, state: &IndexState) -> Result<()> {
    tx.send(
        "UPDATE search_indexes SET version = $2, next_number = $3, filled_at = $4, filled_id = $5
         WHERE tenant_id = $1",
        params![state.version, state.next_number, state.filled.time, state.filled.id],
    )
}

/// Has an index cleared and filled anew: it does not hold together.
pub fn mark_for_rebuild(tx: &mut Tx<'_>) -> Result<()> {
    let state = lock_state(tx)?;
    save_state(tx, &IndexState { version: UNBUILT, ..state })
}

/// Has every text looked at once more; what it has it keeps.
pub fn restart_filling(tx: &mut Tx<'_>) -> Result<()> {
    let state = lock_state(tx)?;
    save_state(tx, &IndexState { filled: Cursor::OLDEST, ..state })
}

/// Clears some of an index that is not of this version, and says whether more is left. Once nothing is, it is one of this
/// version, with nothing in it.
pub fn clear_next(tx: &mut Tx<'_>) -> Result<bool> {
    let state = lock_state(tx)?;
    if state.is_current() {
        return Ok(false);
    }
    if clear_postings(tx)? + clear_documents(tx)? > 0 {
        return Ok(true);
    }
    tx.send("DELETE FROM search_blocks WHERE tenant_id = $1", &[])?;
    save_state(tx, &IndexState { version: VERSION, next_number: 0, filled: Cursor::OLDEST })?;
    Ok(false)
}

fn clear_postings(tx: &mut Tx<'_>) -> Result<u64> {
    tx.execute(
        (
            "DELETE FROM search_postings WHERE tenant_id = $1 AND (block, token) IN (
               SELECT p.block, p.token FROM search_postings p WHERE p.tenant_id = $1
               ORDER BY p.block, p.token LIMIT $2)",
            "DELETE FROM search_postings WHERE tenant_id = $1 AND (token, block) IN (
               SELECT p.token, p.block FROM search_postings p WHERE p.tenant_id = $1
               ORDER BY p.token, p.block LIMIT $2)",
        ),
        params![CLEARED],
    )
}

fn clear_documents(tx: &mut Tx<'_>) -> Result<u64> {
    tx.execute(
        "DELETE FROM search_documents WHERE tenant_id = $1 AND number IN (
           SELECT d.number FROM search_documents d WHERE d.tenant_id = $1 ORDER BY d.number LIMIT $2)",
        params![CLEARED],
    )
}

fn read(row: &Row<'_>) -> Result<IndexState> {
    Ok(IndexState {
        version: row.get("version")?,
        next_number: row.get("next_number")?,
        filled: Cursor { time: row.get("filled_at")?, id: row.get("filled_id")? },
    })
}
