//! Whether what texts are found by and what they were given agree, block by block.

use std::collections::HashMap;

use munshi_store::{Error, Result, Tx, params};
use munshi_types::Timestamp;

use crate::documents::{self, StoredDocument, find_place};
use crate::number_set::NumberSet;
use crate::postings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStep {
    /// This block is sound; there may be more behind it.
    Sound(i64),
    /// The index is to be built anew.
    Broken,
    Done,
}

/// Looks at the first block behind one. A text that has a word and is not found by it would be missed; what is found and
/// does not have the word is seen by whoever opens it.
pub fn check_next(tx: &mut Tx<'_>, after: Option<i64>) -> Result<CheckStep> {
    let block: Option<i64> = tx.one(
        "SELECT MIN(number) FROM search_documents WHERE tenant_id = $1 AND number >= $2",
        params![after.map_or(0, |block| (block + 1) * crate::BLOCK)],
        |row| row.get(0),
    )?;
    let Some(block) = block.map(|number| number / crate::BLOCK) else { return Ok(CheckStep::Done) };
    match is_sound(tx, block) {
        Ok(true) => Ok(CheckStep::Sound(block)),
        Ok(false) | Err(Error::Decode(_)) => Ok(CheckStep::Broken),
        Err(error) => Err(error),
    }
}

fn is_sound(tx: &mut Tx<'_>, block: i64) -> Result<bool> {
    let documents = documents::list_by_block(tx, block)?;
    let mut wanted: HashMap<i64, NumberSet> = HashMap::new();
    for document in &documents {
        for token in &document.tokens {
            wanted.entry(*token).or_insert(NumberSet::EMPTY).insert(find_place(document.number));
        }
    }
    let tokens: Vec<i64> = wanted.keys().copied().collect();
    for posting in postings::load(tx, &tokens, (block, block))? {
        if wanted.get(&posting.token) == Some(&posting.numbers) {
            wanted.remove(&posting.token);
        }
    }
    Ok(wanted.is_empty() && is_within_times(tx, block, &documents)?)
}

fn is_within_times(tx: &mut Tx<'_>, block: i64, documents: &[StoredDocument]) -> Result<bool> {
    let found: Option<(Timestamp, Timestamp)> = tx.optional(
        "SELECT oldest, newest FROM search_blocks WHERE tenant_id = $1 AND block = $2",
        params![block],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(found.is_some_and(|(oldest, newest)| {
        documents.iter().all(|document| oldest <= document.at && document.at <= newest)
    }))
}
