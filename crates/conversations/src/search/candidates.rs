//! What may have the words: what the index says has them, and what it does not have yet.

use std::collections::HashSet;

use munshi_index::{HitWindow, IndexSearch, IndexState, IndexedHit, TokenHasher, list_hits, list_unknown};
use munshi_store::{Cursor, Error, Result, Row, Tx, params};
use munshi_types::{DataKeyId, Id};
use uuid::Uuid;

use super::OVERLAP;
use super::find::MessageSearch;
use super::opening::encode_ids;

/// Messages down from a place, by the time they were said, and whether they are of these bindings. So many are looked at, whosever
/// they are: among many of others a few would not end it.
const OF_ALL: (&str, &str) = (
    "SELECT m.id, m.said_at, ($6 IS NULL OR EXISTS (
       SELECT 1 FROM sessions s WHERE s.tenant_id = $1 AND s.id = m.session_id
         AND s.binding_id IN (SELECT unhex(value) FROM json_each($6)))) AS is_wanted
     FROM messages m
     WHERE m.tenant_id = $1 AND (m.said_at, m.id) < ($2, $3) AND m.said_at >= $4
     ORDER BY m.said_at DESC, m.id DESC LIMIT $5",
    "SELECT m.id, m.said_at, ($6::jsonb IS NULL OR EXISTS (
       SELECT 1 FROM sessions s WHERE s.tenant_id = $1 AND s.id = m.session_id
         AND s.binding_id IN (SELECT value::uuid FROM jsonb_array_elements_text($6::jsonb)))) AS is_wanted
     FROM messages m
     WHERE m.tenant_id = $1 AND (m.said_at, m.id) < ($2, $3) AND m.said_at >= $4
     ORDER BY m.said_at DESC, m.id DESC LIMIT $5",
);
/// The same of some persons, by their sessions (`messages_said`): somebody who rarely writes is not looked for among everybody.
const OF_PERSONS: (&str, &str) = (
    "SELECT m.id, m.said_at, TRUE AS is_wanted FROM sessions s CROSS JOIN messages m
     WHERE s.tenant_id = $1 AND s.person_id IN (SELECT unhex(value) FROM json_each($7))
       AND ($6 IS NULL OR s.binding_id IN (SELECT unhex(value) FROM json_each($6)))
       AND m.tenant_id = $1 AND m.session_id = s.id AND (m.said_at, m.id) < ($2, $3) AND m.said_at >= $4
     ORDER BY m.said_at DESC, m.id DESC LIMIT $5",
    "SELECT m.id, m.said_at, TRUE AS is_wanted FROM sessions s JOIN messages m ON m.tenant_id = $1 AND m.session_id = s.id
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
    /// What the index gave last: it lasts for several windows where it has few, and those that it lacks are many.
    indexed: Option<HitWindow>,
    /// How many of the index are asked for next: more with each window, since fewer of them fit than was hoped.
    least: usize,
}

/// A message that the index may lack.
struct UnindexedRow {
    position: Cursor,
    is_wanted: bool,
}

/// Some candidates, and where the next begin.
pub(super) struct CandidateWindow {
    pub(super) positions: Vec<Cursor>,
    pub(super) next: Option<Cursor>,
}

impl<'a> CandidateSource<'a> {
    pub(super) fn open(tx: &mut Tx<'_>, wanted: &'a MessageSearch) -> Result<Self> {
        let mut source =
            Self { wanted, groups: Vec::new(), state: None, indexed: None, least: wanted.limit + 1 };
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
        let mut positions = [indexed.positions, unindexed.positions].concat();
        positions.retain(|position| next.is_none_or(|next| *position >= next));
        positions.sort_by(|one, other| other.cmp(one));
        Ok(CandidateWindow { positions, next })
    }

    fn list_indexed(&mut self, tx: &mut Tx<'_>, before: Cursor) -> Result<CandidateWindow> {
        let reaches = |window: &HitWindow| window.next.is_none_or(|next| next < before);
        let window = match self.indexed.take().filter(reaches) {
            Some(window) => window,
            None => self.load_indexed(tx, before)?,
        };
        let positions = window.hits.iter().map(IndexedHit::position).filter(|position| *position < before);
        let found = CandidateWindow { positions: positions.collect(), next: window.next };
        self.indexed = Some(window);
        Ok(found)
    }

    /// One that does not hold together is looked for by nobody; every message is opened instead, until it is built anew.
    fn load_indexed(&mut self, tx: &mut Tx<'_>, before: Cursor) -> Result<HitWindow> {
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
        let mut rows = match &wanted.persons {
            Some(persons) => {
                let persons = encode_ids(&collect_ids(persons))?;
                tx.all(OF_PERSONS, params![before.time, before.id, since, limit, bindings, persons], read)?
            }
            None => tx.all(OF_ALL, params![before.time, before.id, since, limit, bindings], read)?,
        };
        let is_full = rows.len() as u64 == u64::from(limit);
        let next = rows.last().map(|row| row.position).filter(|_| is_full);
        rows.retain(|row| row.is_wanted);
        let mut positions: Vec<Cursor> = rows.into_iter().map(|row| row.position).collect();
        if self.state.is_some() {
            let ids: Vec<Uuid> = positions.iter().map(|position| position.id).collect();
            let unknown: HashSet<Uuid> = list_unknown(tx, &ids)?.into_iter().collect();
            positions.retain(|position| unknown.contains(&position.id));
        }
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

fn read(row: &Row<'_>) -> Result<UnindexedRow> {
    let position = Cursor { time: row.get("said_at")?, id: row.get("id")? };
    Ok(UnindexedRow { position, is_wanted: row.get("is_wanted")? })
}

fn collect_ids<T: Id>(ids: &[T]) -> Vec<Uuid> {
    ids.iter().map(|id| id.as_uuid()).collect()
}

#[cfg(test)]
mod tests {
    use munshi_test_support::{DatabaseEngine, TestDb};

    use super::*;

    /// How SQLite runs a statement.
    async fn explain(test: &TestDb, statement: &'static str) -> String {
        let tenant = test.add_tenant("sharma").await;
        let explain: &'static str = ["EXPLAIN QUERY PLAN ", statement].concat().leak();
        let (start, since, limit, nobody) = (Cursor::START, 0_i64, 500_i64, "[]".to_owned());
        let read = move |tx: &mut Tx<'_>| -> Result<Vec<String>> {
            let given = params![start.time, start.id, since, limit, nobody, nobody];
            let count = if statement.contains("$7") { given.len() } else { given.len() - 1 };
            tx.all(explain, &given[..count], |row| row.get("detail"))
        };
        test.db.read(tenant, read).await.unwrap().join("\n")
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_is_looked_for_among_everybody() {
        let test = TestDb::open(DatabaseEngine::Sqlite, &munshi_test_app::list_migrations(&[])).await;
        let plan = explain(&test, OF_PERSONS.0).await;
        for step in [
            "s USING INDEX sessions_person",
            "m USING COVERING INDEX messages_said (tenant_id=? AND session_id=?",
        ] {
            assert!(plan.contains(step), "{plan}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn messages_of_all_are_read_in_order() {
        let test = TestDb::open(DatabaseEngine::Sqlite, &munshi_test_app::list_migrations(&[])).await;
        let plan = explain(&test, OF_ALL.0).await;
        assert!(plan.contains("m USING INDEX messages_old (tenant_id=?"), "{plan}");
        assert!(!plan.contains("B-TREE"), "all would be looked at before the first is there: {plan}");
    }
}
