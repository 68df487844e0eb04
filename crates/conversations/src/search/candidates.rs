//! What may have the words: what the index says has them, and what it does not have yet.

use std::collections::HashSet;

use munshi_index::{HitWindow, IndexSearch, IndexState, IndexedHit, TokenHasher, list_hits, list_unknown};
use munshi_store::{Cursor, Error, Result, Row, Tx, params};
use munshi_types::{DataKeyId, Id};
use uuid::Uuid;

use super::OVERLAP;
use super::find::MessageSearch;
use super::opening::encode_ids;

/// Messages down from a place: by the time they were said, which stops where enough are found.
const OF_ALL: (&str, &str) = (
    "SELECT m.id, m.said_at FROM messages m CROSS JOIN sessions s
     WHERE m.tenant_id = $1 AND (m.said_at, m.id) < ($2, $3) AND m.said_at >= $4
       AND s.tenant_id = $1 AND s.id = m.session_id
       AND ($6 IS NULL OR s.binding_id IN (SELECT unhex(value) FROM json_each($6)))
     ORDER BY m.said_at DESC, m.id DESC LIMIT $5",
    "SELECT m.id, m.said_at FROM messages m JOIN sessions s ON s.tenant_id = $1 AND s.id = m.session_id
     WHERE m.tenant_id = $1 AND (m.said_at, m.id) < ($2, $3) AND m.said_at >= $4
       AND ($6::jsonb IS NULL OR s.binding_id IN (SELECT value::uuid FROM jsonb_array_elements_text($6::jsonb)))
     ORDER BY m.said_at DESC, m.id DESC LIMIT $5",
);
/// The same of some persons, by their sessions: somebody who rarely writes is not looked for among everybody.
const OF_PERSONS: (&str, &str) = (
    "SELECT m.id, m.said_at FROM sessions s CROSS JOIN messages m
     WHERE s.tenant_id = $1 AND s.person_id IN (SELECT unhex(value) FROM json_each($7))
       AND ($6 IS NULL OR s.binding_id IN (SELECT unhex(value) FROM json_each($6)))
       AND m.tenant_id = $1 AND m.session_id = s.id AND (m.said_at, m.id) < ($2, $3) AND m.said_at >= $4
     ORDER BY m.said_at DESC, m.id DESC LIMIT $5",
    "SELECT m.id, m.said_at FROM sessions s JOIN messages m ON m.tenant_id = $1 AND m.session_id = s.id
     WHERE s.tenant_id = $1 AND s.person_id IN (SELECT value::uuid FROM jsonb_array_elements_text($7::jsonb))
       AND ($6::jsonb IS NULL OR s.binding_id IN (SELECT value::uuid FROM jsonb_array_elements_text($6::jsonb)))
       AND (m.said_at, m.id) < ($2, $3) AND m.said_at >= $4
     ORDER BY m.said_at DESC, m.id DESC LIMIT $5",
);

/// Gives candidates window by window, newest first.
pub(super) struct CandidateSource<'a> {
    wanted: &'a MessageSearch,
    groups: Vec<Vec<i64>>,
    /// None where the index is of no use.
    state: Option<IndexState>,
    /// How many of the index are asked for next: more with each window, since fewer of them fit than was hoped.
    least: usize,
}

/// Some candidates, and where the next begin.
pub(super) struct CandidateWindow {
    pub(super) positions: Vec<Cursor>,
    pub(super) next: Option<Cursor>,
}

impl<'a> CandidateSource<'a> {
    pub(super) fn open(tx: &mut Tx<'_>, wanted: &'a MessageSearch) -> Result<Self> {
        let mut source = Self { wanted, groups: Vec::new(), state: None, least: wanted.limit + 1 };
        let Some(state) = munshi_index::find_state(tx)? else { return Ok(source) };
        match hash_wanted(tx, wanted, state.key) {
            Ok(groups) => {
                source.groups = groups;
                source.state = Some(state);
            }
            // Its key has just gone, or it or the store of keys is a copy from before: it is built anew.
            Err(Error::Forgotten(_) | Error::UnknownKey(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(source)
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
        let search = IndexSearch { groups: &self.groups, since: self.wanted.since, before };
        let least = self.least.min(self.wanted.limits.indexed);
        self.least = self.least.saturating_mul(4);
        match list_hits(tx, &search, least) {
            Err(Error::Decode(what)) => {
                tracing::warn!(tenant = %tx.tenant(), what, "the search index is damaged; it is rebuilt at night");
                self.state = None;
                Ok(nothing)
            }
            found => found,
        }
    }

    /// Of the persons and bindings that are looked for alone: of others it is not even told when they wrote.
    fn list_unindexed(&self, tx: &mut Tx<'_>, before: Cursor) -> Result<CandidateWindow> {
        let (wanted, limit) = (self.wanted, self.wanted.limits.unindexed);
        let filled = self.state.as_ref().map(|state| state.filled.time.min(wanted.now).minus(OVERLAP));
        let since = filled.map_or(wanted.since, |filled| wanted.since.max(filled));
        let bindings =
            wanted.bindings.as_ref().map(|bindings| encode_ids(&collect_ids(bindings))).transpose()?;
        let rows = match &wanted.persons {
            Some(persons) => {
                let persons = encode_ids(&collect_ids(persons))?;
                tx.all(OF_PERSONS, params![before.time, before.id, since, limit, bindings, persons], read)?
            }
            None => tx.all(OF_ALL, params![before.time, before.id, since, limit, bindings], read)?,
        };
        let is_full = rows.len() as u64 == u64::from(limit);
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

/// The groups of tokens of which a message has one each.
fn hash_wanted(tx: &Tx<'_>, wanted: &MessageSearch, key: DataKeyId) -> Result<Vec<Vec<i64>>> {
    let mut hasher = TokenHasher::new(key);
    let mut groups = hasher.hash_query(tx, &wanted.query)?;
    let persons = wanted.persons.iter().map(|persons| collect_ids(persons));
    let bindings = wanted.bindings.iter().map(|bindings| collect_ids(bindings));
    for scopes in persons.chain(bindings) {
        groups.push(scopes.iter().map(|scope| hasher.hash_scope(tx, *scope)).collect::<Result<_>>()?);
    }
    // The same word twice is looked up once.
    let mut seen = HashSet::new();
    groups.retain(|group| seen.insert(group.clone()));
    Ok(groups)
}

fn read(row: &Row<'_>) -> Result<Cursor> {
    Ok(Cursor { time: row.get("said_at")?, id: row.get("id")? })
}

fn collect_ids<T: Id>(ids: &[T]) -> Vec<Uuid> {
    ids.iter().map(|id| id.as_uuid()).collect()
}
