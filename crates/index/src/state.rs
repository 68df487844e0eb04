//! How far a tenant's index is.

use munshi_store::{Cursor, Error, Result, Row, Tx, params};
use munshi_types::DataKeyId;

/// The way words are cut and hashed, and rows are written.
pub const VERSION: i64 = 1;
/// Of an index that is to be cleared, or was never begun.
const UNBUILT: i64 = 0;

/// So many rows are cleared in one unit.
const CLEARED: i64 = 2_000;

/// Of an index that something can be found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexState {
    /// Every text up to here has been looked at.
    pub filled: Cursor,
    /// By which its words are hashed.
    pub key: DataKeyId,
}

/// Of an index, whatever state it is in.
#[derive(Clone, Debug)]
pub(crate) struct StoredIndexState {
    version: i64,
    pub(crate) next_number: i64,
    pub(crate) filled: Cursor,
    key: Option<DataKeyId>,
    is_key_expired: bool,
}

impl StoredIndexState {
    /// None where it is to be cleared first.
    pub(crate) fn current_key(&self) -> Option<DataKeyId> {
        self.key.filter(|_| self.version == VERSION)
    }
}

/// None where nothing can be found by it: it was never begun, or is of another version and about to be cleared.
pub fn find_state(tx: &mut Tx<'_>) -> Result<Option<IndexState>> {
    let found = find_stored(tx)?;
    Ok(found.and_then(|state| Some(IndexState { filled: state.filled, key: state.current_key()? })))
}

/// Whether there is one that has to be cleared before anything is found by it.
pub fn needs_clearing(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(find_stored(tx)?.is_some_and(|state| state.current_key().is_none()))
}

/// Whether somebody was forgotten whose words its key has hashed: whoever has an older copy of the index could try guesses while
/// the key is there.
pub fn is_key_expired(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(find_stored(tx)?.is_some_and(|state| state.is_key_expired))
}

/// Whether its key is gone: this is a copy from before another key took its place, or the store of keys is one from before it had this one.
pub fn is_key_lost(tx: &mut Tx<'_>) -> Result<bool> {
    let Some(state) = find_state(tx)? else { return Ok(false) };
    match tx.hash_by_key(state.key, "search probe", &[]) {
        Err(Error::Forgotten(_) | Error::UnknownKey(_)) => Ok(true),
        hashed => hashed.map(|_| false),
    }
}

fn find_stored(tx: &mut Tx<'_>) -> Result<Option<StoredIndexState>> {
    tx.optional(
        "SELECT version, next_number, filled_at, filled_id, key_id, key_expired FROM search_indexes
         WHERE tenant_id = $1",
        &[],
        read,
    )
}

/// The state, of whatever version, held until the unit ends. Whoever changes anything of an index holds it.
pub(crate) fn lock_state(tx: &mut Tx<'_>) -> Result<StoredIndexState> {
    // Made where it is missing, so that there is always something to hold.
    tx.send(
        "INSERT INTO search_indexes (tenant_id, version, next_number, filled_at, filled_id, key_expired)
         VALUES ($1, $2, 0, $3, $4, FALSE) ON CONFLICT (tenant_id) DO NOTHING",
        params![UNBUILT, Cursor::OLDEST.time, Cursor::OLDEST.id],
    )?;
    tx.one(
        (
            "SELECT version, next_number, filled_at, filled_id, key_id, key_expired FROM search_indexes
             WHERE tenant_id = $1",
            "SELECT version, next_number, filled_at, filled_id, key_id, key_expired FROM search_indexes
             WHERE tenant_id = $1 FOR UPDATE",
        ),
        &[],
        read,
    )
}

pub(crate) fn save_state(tx: &mut Tx<'_>, state: &StoredIndexState) -> Result<()> {
    let StoredIndexState { version, next_number, filled, key, is_key_expired } = state;
    tx.send(
        "UPDATE search_indexes SET version = $2, next_number = $3, filled_at = $4, filled_id = $5, key_id = $6,
                key_expired = $7
         WHERE tenant_id = $1",
        params![*version, *next_number, filled.time, filled.id, *key, *is_key_expired],
    )
}

/// Has an index cleared and filled anew: it does not hold together, or its key is to go.
pub fn mark_for_rebuild(tx: &mut Tx<'_>) -> Result<()> {
    let state = lock_state(tx)?;
    save_state(tx, &StoredIndexState { version: UNBUILT, ..state })
}

/// Has an index get another key, when it is next looked through: somebody is forgotten whose words stand in older copies of it.
pub fn expire_key(tx: &mut Tx<'_>) -> Result<()> {
    let state = lock_state(tx)?;
    save_state(tx, &StoredIndexState { is_key_expired: true, ..state })
}

/// Has every text looked at once more; what it has it keeps.
pub fn restart_filling(tx: &mut Tx<'_>) -> Result<()> {
    let state = lock_state(tx)?;
    save_state(tx, &StoredIndexState { filled: Cursor::OLDEST, ..state })
}

/// Clears some of an index that is not of this version, and says whether more is left. Once nothing is, it is one of this
/// version, with nothing in it, and with a key of its own: whatever other one there is is destroyed. If the unit comes to nothing after
/// that, it is still one that nobody searches by.
pub fn clear_next(tx: &mut Tx<'_>) -> Result<bool> {
    let state = lock_state(tx)?;
    if state.current_key().is_some() {
        return Ok(false);
    }
    if clear_postings(tx)? + clear_documents(tx)? > 0 {
        return Ok(true);
    }
    tx.send("DELETE FROM search_blocks WHERE tenant_id = $1", &[])?;
    let (tenant, keyring) = (tx.tenant(), tx.keyring()?);
    let key = keyring.make_index_key(tenant)?;
    keyring.destroy_other_index_keys(tenant, key)?;
    let (next_number, filled, key) = (0, Cursor::OLDEST, Some(key));
    save_state(tx, &StoredIndexState { version: VERSION, next_number, filled, key, is_key_expired: false })?;
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

fn read(row: &Row<'_>) -> Result<StoredIndexState> {
    Ok(StoredIndexState {
        version: row.get("version")?,
        next_number: row.get("next_number")?,
        filled: Cursor { time: row.get("filled_at")?, id: row.get("filled_id")? },
        key: row.get("key_id")?,
        is_key_expired: row.get("key_expired")?,
    })
}
