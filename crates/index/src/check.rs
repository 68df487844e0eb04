//! Whether what texts are found by and what they were given agree, block by block.

use std::collections::HashMap;

use munshi_store::{Error, Result, Tx, params};
use munshi_types::Timestamp;

use crate::documents::{self, StoredDocument, find_place};
use crate::number_set::NumberSet;
use crate::postings;

/// So many numbers are looked at together, and so many of their tokens: all of a block may be some hundred megabytes.
const SLICE: usize = 64;
const COMPARED: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStep {
    /// This block is sound; there may be more behind it.
    Sound(i64),
    /// The index is to be built anew.
    Broken,
    Done,
}

/// Looks at the first block behind one, be it that of texts, of words or of times. A text that has a word and is not found by it
/// would be missed; one that is found by more than it has may be one that was removed.
pub fn check_next(tx: &mut Tx<'_>, after: Option<i64>) -> Result<CheckStep> {
    let first = after.map_or(0, |block| block + 1);
    let document: Option<i64> = tx.one(
        "SELECT MIN(number) FROM search_documents WHERE tenant_id = $1 AND number >= $2",
        params![first * crate::BLOCK],
        |row| row.get(0),
    )?;
    let posting: Option<i64> = tx.one(
        "SELECT MIN(block) FROM search_postings WHERE tenant_id = $1 AND block >= $2",
        params![first],
        |row| row.get(0),
    )?;
    let times: Option<i64> = tx.one(
        "SELECT MIN(block) FROM search_blocks WHERE tenant_id = $1 AND block >= $2",
        params![first],
        |row| row.get(0),
    )?;
    let blocks = [document.map(|number| number / crate::BLOCK), posting, times];
    let Some(block) = blocks.into_iter().flatten().min() else { return Ok(CheckStep::Done) };
    match is_sound(tx, block) {
        Ok(true) => Ok(CheckStep::Sound(block)),
        Ok(false) | Err(Error::Decode(_)) => Ok(CheckStep::Broken),
        Err(error) => Err(error),
    }
}

fn is_sound(tx: &mut Tx<'_>, block: i64) -> Result<bool> {
    let numbers: Vec<i64> = (block * crate::BLOCK..(block + 1) * crate::BLOCK).collect();
    let (mut count, mut tokens) = (0, 0);
    for part in numbers.chunks(SLICE) {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
        let documents = documents::list_by_numbers(tx, *first, *last)?;
        if !are_found_by_tokens(tx, block, &documents)? || !is_within_times(tx, block, &documents)? {
            return Ok(false);
        }
        count += documents.len();
        tokens += documents.iter().map(|document| document.tokens.len()).sum::<usize>();
    }
    // Each has all that it should have: as many are no more.
    Ok(count > 0 && postings::count_numbers(tx, block)? == tokens)
}

/// Whether each of these texts is among those of each of its tokens.
fn are_found_by_tokens(tx: &mut Tx<'_>, block: i64, documents: &[StoredDocument]) -> Result<bool> {
    let place_tokens = |document: &StoredDocument| {
        let place = find_place(document.number);
        document.tokens.iter().map(move |token| (*token, place)).collect::<Vec<_>>()
    };
    let mut wanted: Vec<(i64, u16)> = documents.iter().flat_map(place_tokens).collect();
    wanted.sort_unstable();
    for part in wanted.chunks(COMPARED) {
        let mut tokens: Vec<i64> = part.iter().map(|(token, _)| *token).collect();
        tokens.dedup();
        let stored = postings::load(tx, &tokens, (block, block))?;
        let stored: HashMap<i64, NumberSet> =
            stored.into_iter().map(|posting| (posting.token, posting.numbers)).collect();
        let is_found =
            |(token, place): &(i64, u16)| stored.get(token).is_some_and(|numbers| numbers.contains(*place));
        if !part.iter().all(is_found) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_within_times(tx: &mut Tx<'_>, block: i64, documents: &[StoredDocument]) -> Result<bool> {
    let found: Option<(Timestamp, Timestamp)> = tx.optional(
        "SELECT oldest, newest FROM search_blocks WHERE tenant_id = $1 AND block = $2",
        params![block],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let is_within = |document: &StoredDocument| {
        found.is_some_and(|(oldest, newest)| oldest <= document.at && document.at <= newest)
    };
    Ok(documents.iter().all(is_within))
}
