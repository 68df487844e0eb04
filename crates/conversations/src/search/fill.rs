//! The index is filled behind the turns, some messages at a time. Stopped or broken off anywhere, it goes on from there: what
//! is added and how far it has come are one transaction.

use std::collections::HashMap;
use std::sync::Arc;

use munshi_index::{
    AddOutcome, CheckStep, IndexDocument, TokenHasher, check_next, clear_next, find_state, list_unknown,
    mark_for_rebuild, restart_filling,
};
use munshi_store::{Cursor, Db, Tx, in_background, params};
use munshi_types::{Clock, Id, TenantId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::opening::{StoredText, list_present, list_stored, open_texts};
use super::{BREATH, OVERLAP};
use crate::error::Result;

/// So many messages are added in one transaction at most, and none after so many of their tokens, each of which is a row: a
/// person's message waits for it on SQLite.
const BATCH: usize = 128;
const BATCH_TOKENS: usize = 2_048;
/// So many are opened at once.
const OPENED: usize = 16;
/// So many rows are looked through for them.
const LOOKED_THROUGH: i64 = 512;

/// Which messages are looked for that the index lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillScope {
    /// Those that came since.
    New,
    /// All there are, after a look whether the index holds together.
    Everything,
}

/// What fills the indexes of tenants.
#[derive(Clone, Debug)]
pub struct SearchFiller {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
}

/// Messages that the index lacks, ready to be added.
struct FillBatch {
    documents: Vec<IndexDocument>,
    /// The last row that was looked at; none where there was none.
    last: Option<Cursor>,
}

impl SearchFiller {
    /// Adds what is missing, until nothing is left or it should stop. Says how many were added.
    pub async fn fill(
        &self,
        tenant: TenantId,
        scope: FillScope,
        is_stopped: impl Fn() -> bool + Send + Sync,
    ) -> Result<usize> {
        in_background(self.fill_missing(tenant, scope, is_stopped)).await
    }

    async fn fill_missing(
        &self,
        tenant: TenantId,
        scope: FillScope,
        is_stopped: impl Fn() -> bool + Send + Sync,
    ) -> Result<usize> {
        if scope == FillScope::Everything {
            self.check(tenant, &is_stopped).await?;
        }
        let Some(filled) = self.prepare(tenant, &is_stopped).await? else { return Ok(0) };
        let mut at = match scope {
            FillScope::New => Cursor { time: filled.time.minus(OVERLAP), id: Uuid::nil() },
            FillScope::Everything => Cursor::OLDEST,
        };
        let mut added = 0;
        while !is_stopped() {
            let batch = self.db.read(tenant, move |tx| prepare_batch(tx, at)).await?;
            let Some(last) = batch.last else { break };
            at = last;
            // A message may bear a time that is still to come: what is said until then is looked at all the same.
            let reached = last.min(Cursor { time: self.clock.now(), id: Uuid::nil() });
            if batch.documents.is_empty() && reached <= filled {
                continue;
            }
            let unit = move |tx: &mut Tx<'_>| munshi_index::add(tx, batch.documents, reached, list_present);
            match self.db.write(tenant, unit).await? {
                AddOutcome::Added(count) => added += count,
                // Somebody had it built anew meanwhile.
                AddOutcome::Outdated => break,
            }
            tokio::time::sleep(BREATH).await;
        }
        Ok(added)
    }

    /// Clears an index of another version. Says up to where it is filled; none where that was broken off. What is said to be
    /// filled further than now was filled by a wrong clock: nobody knows how far it is.
    async fn prepare(
        &self,
        tenant: TenantId,
        is_stopped: &(impl Fn() -> bool + Send + Sync),
    ) -> Result<Option<Cursor>> {
        loop {
            if let Some(state) = self.db.read(tenant, find_state).await? {
                if state.filled.time <= self.clock.now().plus(OVERLAP) {
                    return Ok(Some(state.filled));
                }
                self.db.write(tenant, restart_filling).await?;
                continue;
            }
            while self.db.write(tenant, clear_next).await? {
                if is_stopped() {
                    return Ok(None);
                }
                tokio::time::sleep(BREATH).await;
            }
        }
    }

    /// Has an index built anew that does not hold together.
    async fn check(&self, tenant: TenantId, is_stopped: &(impl Fn() -> bool + Send + Sync)) -> Result<()> {
        if self.db.read(tenant, find_state).await?.is_none() {
            return Ok(());
        }
        let mut after = None;
        while !is_stopped() {
            match self.db.read(tenant, move |tx| check_next(tx, after)).await? {
                CheckStep::Sound(block) => after = Some(block),
                CheckStep::Done => break,
                CheckStep::Broken => {
                    tracing::warn!(%tenant, "the search index is damaged; it is built anew");
                    self.db.write(tenant, mark_for_rebuild).await?;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Opens the next messages that the index lacks and hashes their words, while nobody waits for it.
fn prepare_batch(tx: &mut Tx<'_>, after: Cursor) -> munshi_store::Result<FillBatch> {
    let rows: Vec<Cursor> = tx.all(
        "SELECT id, said_at FROM messages WHERE tenant_id = $1 AND (said_at, id) > ($2, $3)
         ORDER BY said_at, id LIMIT $4",
        params![after.time, after.id, LOOKED_THROUGH],
        |row| Ok(Cursor { time: row.get("said_at")?, id: row.get("id")? }),
    )?;
    let unknown = list_unknown(tx, &rows.iter().map(|row| row.id).collect::<Vec<_>>())?;
    let (documents, taken) = hash_messages(tx, unknown.get(..BATCH).unwrap_or(&unknown))?;
    // What is beyond a batch is looked at again with the next.
    let last = match unknown.get(taken) {
        Some(beyond) => rows.iter().take_while(|row| row.id != *beyond).last(),
        None => rows.last(),
    };
    Ok(FillBatch { documents, last: last.copied() })
}

/// The first of some messages, as many as have the tokens of a batch. Says how many these are.
fn hash_messages(tx: &mut Tx<'_>, ids: &[Uuid]) -> munshi_store::Result<(Vec<IndexDocument>, usize)> {
    let mut hasher = TokenHasher::default();
    let (mut documents, mut taken, mut count) = (Vec::new(), 0, 0);
    for part in ids.chunks(OPENED) {
        let stored = list_stored(tx, part)?;
        let texts = open_texts(tx, &stored)?;
        let mut opened: HashMap<Uuid, (StoredText, String)> = stored
            .into_iter()
            .zip(texts)
            .map(|(message, text)| (message.id.as_uuid(), (message, text)))
            .collect();
        for id in part {
            if count >= BATCH_TOKENS {
                return Ok((documents, taken));
            }
            taken += 1;
            let Some((message, text)) = opened.remove(id) else { continue };
            let scopes = [message.person.as_uuid(), message.binding.as_uuid()];
            let tokens = hasher.hash_text(tx, &text, &scopes)?;
            count += tokens.len();
            documents.push(IndexDocument { id: *id, at: message.said_at, tokens });
        }
    }
    Ok((documents, taken))
}
