//! Texts come into the index.

use std::collections::{BTreeMap, HashMap, HashSet};

use munshi_store::{Cursor, Result, Tx, params};
use munshi_types::{DataKeyId, Timestamp};
use uuid::Uuid;

use crate::documents::{self, StoredDocument, find_place};
use crate::number_set::NumberSet;
use crate::postings::{self, WordPosting};
use crate::state::{lock_state, save_state};

/// A text, ready to be found: it was opened, and its words hashed, before the unit that adds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDocument {
    pub id: Uuid,
    pub at: Timestamp,
    /// As [`TokenHasher`](crate::TokenHasher) has them.
    pub tokens: Vec<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddOutcome {
    /// So many were new.
    Added(usize),
    /// The index is to be cleared first, or was cleared meanwhile.
    Outdated,
}

/// What was found by looking at some texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexBatch {
    /// By which their words were hashed.
    pub key: DataKeyId,
    /// How far the index was filled when somebody began to look.
    pub from: Cursor,
    /// How far they have looked.
    pub to: Cursor,
    pub documents: Vec<IndexDocument>,
}

/// Adds texts that it does not have, and notes that all up to a place were looked at. `list_present` says which of some
/// texts still exist: it is asked while the index is held, so what is removed elsewhere is either not added, or taken out
/// again by whoever removes it. Each token is a row to write: whoever calls it bounds them.
pub fn add(
    tx: &mut Tx<'_>,
    batch: IndexBatch,
    list_present: impl FnOnce(&mut Tx<'_>, &[Uuid]) -> Result<Vec<Uuid>>,
) -> Result<AddOutcome> {
    let mut state = lock_state(tx)?;
    // Whoever looked before it was cleared has not looked at what it lost.
    if state.current_key() != Some(batch.key) || state.filled < batch.from {
        return Ok(AddOutcome::Outdated);
    }
    let ids: Vec<Uuid> = batch.documents.iter().map(|document| document.id).collect();
    let unknown = documents::list_unknown(tx, &ids)?;
    let mut wanted: HashSet<Uuid> = list_present(tx, &unknown)?.into_iter().collect();
    let mut added = Vec::with_capacity(wanted.len());
    for IndexDocument { id, at, tokens } in batch.documents {
        if wanted.remove(&id) {
            added.push(StoredDocument { number: state.next_number, id, at, tokens });
            state.next_number += 1;
        }
    }
    for block in added.chunk_by(|one, next| one.block() == next.block()) {
        add_to_block(tx, block)?;
    }
    if state.filled < batch.to || !added.is_empty() {
        state.filled = state.filled.max(batch.to);
        save_state(tx, &state)?;
    }
    Ok(AddOutcome::Added(added.len()))
}

fn add_to_block(tx: &mut Tx<'_>, documents: &[StoredDocument]) -> Result<()> {
    let Some(block) = documents.first().map(StoredDocument::block) else { return Ok(()) };
    let mut new: BTreeMap<i64, Vec<u16>> = BTreeMap::new();
    for document in documents {
        documents::insert(tx, document)?;
        for token in &document.tokens {
            new.entry(*token).or_default().push(find_place(document.number));
        }
    }
    let tokens: Vec<i64> = new.keys().copied().collect();
    let stored = postings::load(tx, &tokens, (block, block))?;
    let mut stored: HashMap<i64, NumberSet> =
        stored.into_iter().map(|posting| (posting.token, posting.numbers)).collect();
    for (token, places) in new {
        let mut numbers = stored.remove(&token).unwrap_or(NumberSet::EMPTY);
        places.into_iter().for_each(|place| numbers.insert(place));
        postings::save(tx, &WordPosting { token, block, numbers })?;
    }
    widen_block(tx, block, documents)
}

fn widen_block(tx: &mut Tx<'_>, block: i64, documents: &[StoredDocument]) -> Result<()> {
    let times = || documents.iter().map(|document| document.at);
    let (Some(oldest), Some(newest)) = (times().min(), times().max()) else { return Ok(()) };
    tx.send(
        "INSERT INTO search_blocks (tenant_id, block, oldest, newest) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, block) DO UPDATE SET
           oldest = CASE WHEN excluded.oldest < search_blocks.oldest THEN excluded.oldest ELSE search_blocks.oldest END,
           newest = CASE WHEN excluded.newest > search_blocks.newest THEN excluded.newest ELSE search_blocks.newest END",
        params![block, oldest, newest],
    )
}
