//! What has all words, newest first.

use std::collections::HashMap;

use munshi_store::{Cursor, JsonText, Result, Row, Tx, params};
use munshi_types::Timestamp;
use uuid::Uuid;

use crate::BLOCK;
use crate::documents::find_place;
use crate::number_set::NumberSet;
use crate::postings::{self, WordPosting};

/// So many blocks are looked at by one statement, but for the first: often the newest hold enough.
const BLOCKS: usize = 64;
const FIRST_BLOCKS: usize = 4;
/// More numbers of one block are read as a range.
const LISTED: usize = 400;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct IndexSearch<'a> {
    /// A text has at least one token of each group.
    pub groups: &'a [Vec<i64>],
    /// Not what is older.
    pub since: Timestamp,
    /// Only what stands before it in a list of the newest first: what is older.
    pub before: Cursor,
}

/// A text that has all words, unless two words share a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedHit {
    pub id: Uuid,
    pub at: Timestamp,
}

impl IndexedHit {
    pub const fn position(&self) -> Cursor {
        Cursor { time: self.at, id: self.id }
    }
}

/// A part of what is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitWindow {
    /// Newest first.
    pub hits: Vec<IndexedHit>,
    /// All down to here are in it, and the next part begins there; none where there are no more.
    pub next: Option<Cursor>,
}

/// The times of a block.
#[derive(Clone, Copy)]
struct BlockTimes {
    block: i64,
    newest: Timestamp,
}

/// At least so many of the newest, where there are as many.
pub fn list_hits(tx: &mut Tx<'_>, search: &IndexSearch<'_>, least: usize) -> Result<HitWindow> {
    let (mut hits, mut after) = (Vec::new(), None);
    loop {
        let at_once = if after.is_none() { FIRST_BLOCKS } else { BLOCKS };
        // One more tells how new what follows can be.
        let mut blocks = list_blocks(tx, search, after, at_once + 1)?;
        let following = if blocks.len() > at_once { blocks.pop().map(|block| block.newest) } else { None };
        let found = intersect_blocks(tx, search, &blocks)?;
        for (at, BlockTimes { block, newest }) in blocks.iter().enumerate() {
            after = Some((*newest, *block));
            if let Some(numbers) = found.get(block) {
                hits.extend(load_hits(tx, *block, numbers)?.into_iter().filter(|hit| search.admits(hit)));
            }
            let bound = blocks.get(at + 1).map(|next| next.newest).or(following);
            let Some(bound) = bound else { break };
            if hits.iter().filter(|hit| hit.at > bound).count() >= least {
                hits.retain(|hit| hit.at > bound);
                let next = Some(Cursor { time: bound, id: Uuid::max() });
                return Ok(HitWindow { hits: sort(hits), next });
            }
        }
        if following.is_none() {
            return Ok(HitWindow { hits: sort(hits), next: None });
        }
    }
}

fn sort(mut hits: Vec<IndexedHit>) -> Vec<IndexedHit> {
    hits.sort_by_key(|hit| std::cmp::Reverse(hit.position()));
    hits
}

impl IndexSearch<'_> {
    fn admits(&self, hit: &IndexedHit) -> bool {
        hit.at >= self.since && hit.position() < self.before
    }
}

/// Those in which something can be, the newest first.
fn list_blocks(
    tx: &mut Tx<'_>,
    search: &IndexSearch<'_>,
    after: Option<(Timestamp, i64)>,
    limit: usize,
) -> Result<Vec<BlockTimes>> {
    let (newest, block) = after.unwrap_or((Timestamp::MAX, i64::MAX));
    tx.all(
        "SELECT block, newest FROM search_blocks
         WHERE tenant_id = $1 AND (newest, block) < ($2, $3) AND newest >= $4 AND oldest <= $5
         ORDER BY newest DESC, block DESC LIMIT $6",
        params![newest, block, search.since, search.before.time, limit as i64],
        |row| Ok(BlockTimes { block: row.get(0)?, newest: row.get(1)? }),
    )
}

/// For each block the numbers that have one token of each group.
fn intersect_blocks(
    tx: &mut Tx<'_>,
    search: &IndexSearch<'_>,
    blocks: &[BlockTimes],
) -> Result<HashMap<i64, NumberSet>> {
    let numbers = || blocks.iter().map(|block| block.block);
    let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else { return Ok(HashMap::new()) };
    let mut tokens: Vec<i64> = search.groups.iter().flatten().copied().collect();
    tokens.sort_unstable();
    tokens.dedup();
    let mut postings: HashMap<i64, Vec<WordPosting>> = HashMap::new();
    for posting in postings::load(tx, &tokens, (first, last))? {
        postings.entry(posting.block).or_default().push(posting);
    }
    let intersect = |block: i64| Some((block, intersect(search.groups, postings.get(&block)?)?));
    Ok(numbers().filter_map(intersect).collect())
}

/// None where nothing is left.
fn intersect(groups: &[Vec<i64>], postings: &[WordPosting]) -> Option<NumberSet> {
    let mut all: Option<NumberSet> = None;
    for group in groups {
        let mut any = NumberSet::EMPTY;
        for posting in postings.iter().filter(|posting| group.contains(&posting.token)) {
            any.unite(&posting.numbers);
        }
        match &mut all {
            Some(all) => all.intersect(&any),
            None => all = Some(any),
        }
    }
    all.filter(|all| !all.is_empty())
}

/// The texts of some numbers. Many are read as the range they lie in: one after the other they are found faster.
fn load_hits(tx: &mut Tx<'_>, block: i64, numbers: &NumberSet) -> Result<Vec<IndexedHit>> {
    if numbers.len() > LISTED {
        let all = tx.all(
            "SELECT number, document_id, at FROM search_documents
             WHERE tenant_id = $1 AND number >= $2 AND number < $3",
            params![block * BLOCK, (block + 1) * BLOCK],
            |row| Ok((row.get::<i64>("number")?, read(row)?)),
        )?;
        let is_wanted = |(number, _): &(i64, IndexedHit)| numbers.contains(find_place(*number));
        return Ok(all.into_iter().filter(is_wanted).map(|(_, hit)| hit).collect());
    }
    let listed: Vec<i64> = numbers.iter().map(|place| block * BLOCK + i64::from(place)).collect();
    tx.all(
        (
            "SELECT document_id, at FROM search_documents
             WHERE tenant_id = $1 AND number IN (SELECT value FROM json_each($2))",
            "SELECT document_id, at FROM search_documents
             WHERE tenant_id = $1
               AND number IN (SELECT value::bigint FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![JsonText::of(&listed)?],
        read,
    )
}

fn read(row: &Row<'_>) -> Result<IndexedHit> {
    Ok(IndexedHit { id: row.get("document_id")?, at: row.get("at")? })
}
