//! What may have the words: what the index says has them, and what it does not have yet.

use std::collections::HashSet;

use munshi_index::{HitWindow, IndexSearch, IndexState, IndexedHit, TokenHasher, list_hits, list_unknown};
use munshi_store::{Cursor, Error, Result, Tx, params};
use munshi_types::{Id, Timestamp};
use uuid::Uuid;

use super::OVERLAP;
use super::find::MessageSearch;

/// So many rows that the index may lack are looked at by one statement.
const UNINDEXED: i64 = 500;
/// So many of the index are asked for at most.
const MOST_INDEXED: usize = 2_000;

/// Gives candidates window by window, newest first.
pub(super) struct CandidateSource {
    groups: Vec<Vec<i64>>,
    /// None where the index is of no use.
    state: Option<IndexState>,
    since: Timestamp,
    now: Timestamp,
    /// How many of the index are asked for next: more with each window, since fewer of them fit than was hoped.
    least: usize,
}

/// Some candidates, and where the next begin.
pub(super) struct CandidateWindow {
    pub(super) positions: Vec<Cursor>,
    pub(super) next: Option<Cursor>,
}

impl CandidateSource {
    pub(super) fn open(tx: &mut Tx<'_>, wanted: &MessageSearch) -> Result<Self> {
        let state = munshi_index::find_state(tx)?;
        let mut hasher = TokenHasher::default();
        let mut groups = hasher.hash_query(tx, &wanted.query)?;
        let persons = wanted.persons.iter().map(|persons| collect_ids(persons));
        let bindings = wanted.bindings.iter().map(|bindings| collect_ids(bindings));
        for scopes in persons.chain(bindings) {
            groups.push(scopes.iter().map(|scope| hasher.hash_scope(tx, *scope)).collect::<Result<_>>()?);
        }
        // The same word twice is looked up once.
        let mut seen = HashSet::new();
        groups.retain(|group| seen.insert(group.clone()));
        Ok(Self { groups, state, since: wanted.since, now: wanted.now, least: wanted.limit + 1 })
    }

    pub(super) fn list_next(&mut self, tx: &mut Tx<'_>, before: Cursor) -> Result<CandidateWindow> {
        let indexed = self.list_indexed(tx, before)?;
        let unindexed = self.list_unindexed(tx, before)?;
        // What only one of them has seen waits until the other has come as far.
        let next = indexed.next.max(unindexed.next);
        let indexed = indexed.hits.iter().map(IndexedHit::position);
        let mut positions: Vec<Cursor> = indexed.chain(unindexed.positions).collect();
        positions.retain(|position| next.is_none_or(|next| *position >= next));
        positions.sort_by(|one, other| other.cmp(one));
        Ok(CandidateWindow { positions, next })
    }

    /// One that does not hold together is looked for by nobody; every message is opened instead, until it is built anew.
    fn list_indexed(&mut self, tx: &mut Tx<'_>, before: Cursor) -> Result<HitWindow> {
        let nothing = HitWindow { hits: Vec::new(), next: None };
        if self.state.is_none() {
            return Ok(nothing);
        }
        let search = IndexSearch { groups: &self.groups, since: self.since, before };
        let least = self.least.min(MOST_INDEXED);
        self.least *= 4;
        match list_hits(tx, &search, least) {
            Err(Error::Decode(what)) => {
                tracing::warn!(tenant = %tx.tenant(), what, "the search index is damaged; it is rebuilt at night");
                self.state = None;
                Ok(nothing)
            }
            found => found,
        }
    }

    fn list_unindexed(&self, tx: &mut Tx<'_>, before: Cursor) -> Result<CandidateWindow> {
        let filled = self.state.as_ref().map(|state| state.filled.time.min(self.now).minus(OVERLAP));
        let since = filled.map_or(self.since, |filled| self.since.max(filled));
        let rows: Vec<Cursor> = tx.all(
            "SELECT id, said_at FROM messages
             WHERE tenant_id = $1 AND (said_at, id) < ($2, $3) AND said_at >= $4
             ORDER BY said_at DESC, id DESC LIMIT $5",
            params![before.time, before.id, since, UNINDEXED],
            |row| Ok(Cursor { time: row.get("said_at")?, id: row.get("id")? }),
        )?;
        let is_full = rows.len() as i64 == UNINDEXED;
        let next = rows.last().copied().filter(|_| is_full);
        if self.state.is_none() {
            return Ok(CandidateWindow { positions: rows, next });
        }
        let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
        let unknown: HashSet<Uuid> = list_unknown(tx, &ids)?.into_iter().collect();
        let positions = rows.into_iter().filter(|row| unknown.contains(&row.id)).collect();
        Ok(CandidateWindow { positions, next })
    }
}

fn collect_ids<T: Id>(ids: &[T]) -> Vec<Uuid> {
    ids.iter().map(|id| id.as_uuid()).collect()
}
