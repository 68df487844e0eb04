//! Texts leave the index, without being read: their keys may be gone.

use std::collections::{BTreeMap, HashMap};

use munshi_store::{Error, Result, Tx, params};
use munshi_types::Timestamp;
use uuid::Uuid;

use crate::BLOCK;
use crate::documents::{self, StoredDocument, find_place};
use crate::postings;
use crate::state::{lock_state, mark_for_rebuild};

/// So many texts leave in one transaction, and none after so many of their tokens: each is a row that is written.
const REMOVED: usize = 100;
const REMOVED_TOKENS: i64 = 4_096;

/// How many of the first of some texts leave in one transaction that nobody waits long for; one at least.
pub fn count_removable(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<usize> {
    let ids = ids.get(..REMOVED).unwrap_or(ids);
    let known = documents::count_tokens(tx, ids)?;
    let mut tokens = 0;
    for (at, id) in ids.iter().enumerate() {
        if tokens >= REMOVED_TOKENS {
            return Ok(at);
        }
        tokens += known.get(id).copied().unwrap_or_default();
    }
    Ok(ids.len())
}

/// Takes texts out, before their own rows go. Of those it does not have nothing is said. Whoever forgets somebody is not held up by
/// an index that is damaged: all of it is cleared then.
pub fn remove(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    lock_state(tx)?;
    match remove_known(tx, ids) {
        Err(Error::Decode(_)) => {
            documents::delete_all(tx, ids)?;
            mark_for_rebuild(tx)
        }
        removed => removed,
    }
}

fn remove_known(tx: &mut Tx<'_>, ids: &[Uuid]) -> Result<()> {
    let mut blocks: BTreeMap<i64, Vec<StoredDocument>> = BTreeMap::new();
    for document in documents::list(tx, ids)? {
        blocks.entry(document.block()).or_default().push(document);
    }
    for (block, gone) in blocks {
        remove_from_block(tx, block, &gone)?;
    }
    Ok(())
}

fn remove_from_block(tx: &mut Tx<'_>, block: i64, gone: &[StoredDocument]) -> Result<()> {
    let mut places: HashMap<i64, Vec<u16>> = HashMap::new();
    for document in gone {
        documents::delete(tx, document.number)?;
        for token in &document.tokens {
            places.entry(*token).or_default().push(find_place(document.number));
        }
    }
    let tokens: Vec<i64> = places.keys().copied().collect();
    for mut posting in postings::load(tx, &tokens, (block, block))? {
        if let Some(places) = places.get(&posting.token) {
            places.iter().for_each(|place| posting.numbers.remove(*place));
            postings::save(tx, &posting)?;
        }
    }
    narrow_block(tx, block, gone)
}

/// The times of what is gone stand nowhere either. Only the first and the last stand with the block.
fn narrow_block(tx: &mut Tx<'_>, block: i64, gone: &[StoredDocument]) -> Result<()> {
    let times: Option<(Timestamp, Timestamp)> = tx.optional(
        "SELECT oldest, newest FROM search_blocks WHERE tenant_id = $1 AND block = $2",
        params![block],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let is_at_end = |document: &StoredDocument| {
        times.is_none_or(|(oldest, newest)| document.at <= oldest || document.at >= newest)
    };
    if !gone.iter().any(is_at_end) {
        return Ok(());
    }
    let numbers = (block * BLOCK, (block + 1) * BLOCK);
    tx.send(
        "UPDATE search_blocks SET
           oldest = COALESCE((SELECT MIN(d.at) FROM search_documents d
                              WHERE d.tenant_id = $1 AND d.number >= $3 AND d.number < $4), oldest),
           newest = COALESCE((SELECT MAX(d.at) FROM search_documents d
                              WHERE d.tenant_id = $1 AND d.number >= $3 AND d.number < $4), newest)
         WHERE tenant_id = $1 AND block = $2",
        params![block, numbers.0, numbers.1],
    )?;
    tx.send(
        "DELETE FROM search_blocks WHERE tenant_id = $1 AND block = $2 AND NOT EXISTS (
           SELECT 1 FROM search_documents d WHERE d.tenant_id = $1 AND d.number >= $3 AND d.number < $4)",
        params![block, numbers.0, numbers.1],
    )
}
