//! The index is filled behind the turns, some messages at a time. Stopped or broken off anywhere, it goes on from there: what
//! is added and how far it has come are one transaction.

use std::collections::HashMap;
use std::sync::Arc;

use munshi_index::{
    AddOutcome, CheckStep, IndexBatch, IndexDocument, IndexState, TokenHasher, check_next, clear_next,
    find_state, is_key_expired, is_key_lost, list_unknown, mark_for_rebuild, restart_filling,
};
use munshi_store::{Cursor, Db, Tx, in_background, params};
use munshi_types::{Clock, DataKeyId, Id, TenantId};
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

/// What is to be filled, and how far that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FillTask {
    scope: FillScope,
    step: FillStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FillStep {
    /// Whether blocks hold together, behind one.
    Check { after: Option<i64> },
    /// Messages, from where it was stopped.
    Add { from: Option<FillPosition> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FillPosition {
    /// The last message that was looked at.
    after: Cursor,
    /// How far the index was filled. Where it is less far it was cleared since, and all is looked at again.
    filled: Cursor,
}

impl FillTask {
    pub const fn new(scope: FillScope) -> Self {
        let step = match scope {
            FillScope::New => FillStep::Add { from: None },
            FillScope::Everything => FillStep::Check { after: None },
        };
        Self { scope, step }
    }

    pub const fn scope(self) -> FillScope {
        self.scope
    }

    const fn at(self, step: FillStep) -> Self {
        Self { step, ..self }
    }

    /// From where on messages are looked at.
    fn find_start(self, filled: Cursor) -> Cursor {
        match (self.step, self.scope) {
            (FillStep::Add { from: Some(from) }, _) if from.filled <= filled => from.after,
            (_, FillScope::New) => Cursor { time: filled.time.minus(OVERLAP), id: Uuid::nil() },
            (_, FillScope::Everything) => Cursor::OLDEST,
        }
    }
}

/// What came of filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillOutcome {
    /// How many messages were added.
    pub added: usize,
    /// What is left where it was stopped.
    pub rest: Option<FillTask>,
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
        Ok(self.fill_slice(tenant, FillTask::new(scope), is_stopped).await?.added)
    }

    /// The same of something that may have been begun before, and says what is left.
    pub async fn fill_slice(
        &self,
        tenant: TenantId,
        task: FillTask,
        is_stopped: impl Fn() -> bool + Send + Sync,
    ) -> Result<FillOutcome> {
        in_background(self.fill_missing(tenant, task, is_stopped)).await
    }

    /// Has an index whose key has expired get another, and leaves it empty: of a tenant whose jobs wait, perhaps for good. What is
    /// left where it should stop is done the next time.
    pub async fn clear_expired(
        &self,
        tenant: TenantId,
        is_stopped: impl Fn() -> bool + Send + Sync,
    ) -> Result<()> {
        if !self.db.read(tenant, is_key_expired).await? {
            return Ok(());
        }
        tracing::info!(%tenant, "somebody was forgotten; the search index is cleared and gets another key");
        self.db.write(tenant, mark_for_rebuild).await?;
        in_background(self.prepare(tenant, &is_stopped)).await?;
        Ok(())
    }

    async fn fill_missing(
        &self,
        tenant: TenantId,
        mut task: FillTask,
        is_stopped: impl Fn() -> bool + Send + Sync,
    ) -> Result<FillOutcome> {
        if let FillStep::Check { after } = task.step {
            if let Some(after) = self.check(tenant, after, &is_stopped).await? {
                return Ok(FillOutcome { added: 0, rest: Some(task.at(FillStep::Check { after })) });
            }
            task = task.at(FillStep::Add { from: None });
        }
        let Some(IndexState { mut filled, key }) = self.prepare(tenant, &is_stopped).await? else {
            return Ok(FillOutcome { added: 0, rest: Some(task) });
        };
        let (mut at, mut added) = (task.find_start(filled), 0);
        loop {
            if is_stopped() {
                return Ok(FillOutcome { added, rest: Some(task) });
            }
            let batch = self.db.read(tenant, move |tx| prepare_batch(tx, at, key)).await?;
            let Some(last) = batch.last else { break };
            at = last;
            let before = filled;
            // A message may bear a time that is still to come: what is said until then is looked at all the same.
            let reached = last.min(Cursor { time: self.clock.now(), id: Uuid::nil() });
            filled = filled.max(reached);
            task = task.at(FillStep::Add { from: Some(FillPosition { after: last, filled }) });
            if batch.documents.is_empty() && filled == before {
                continue;
            }
            let batch = IndexBatch { key, from: before, to: reached, documents: batch.documents };
            let unit = move |tx: &mut Tx<'_>| munshi_index::add(tx, batch, list_present);
            match self.db.write(tenant, unit).await? {
                AddOutcome::Added(count) => added += count,
                // Somebody had it built anew meanwhile.
                AddOutcome::Outdated => break,
            }
            tokio::time::sleep(BREATH).await;
        }
        Ok(FillOutcome { added, rest: None })
    }

    /// Clears an index of another version, or whose key is gone. None where that was broken off. What is said to be filled further
    /// than now was filled by a wrong clock: nobody knows how far it is.
    async fn prepare(
        &self,
        tenant: TenantId,
        is_stopped: &(impl Fn() -> bool + Send + Sync),
    ) -> Result<Option<IndexState>> {
        if self.db.read(tenant, is_key_lost).await? {
            self.db.write(tenant, mark_for_rebuild).await?;
        }
        loop {
            if let Some(state) = self.db.read(tenant, find_state).await? {
                if state.filled.time <= self.clock.now().plus(OVERLAP) {
                    return Ok(Some(state));
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

    /// Has an index built anew that does not hold together, or whose key has expired. Where it is stopped it says behind which
    /// block.
    async fn check(
        &self,
        tenant: TenantId,
        mut after: Option<i64>,
        is_stopped: &(impl Fn() -> bool + Send + Sync),
    ) -> Result<Option<Option<i64>>> {
        if self.db.read(tenant, find_state).await?.is_none() {
            return Ok(None);
        }
        if self.db.read(tenant, is_key_expired).await? {
            tracing::info!(%tenant, "somebody was forgotten; the search index is built anew with another key");
            self.db.write(tenant, mark_for_rebuild).await?;
            return Ok(None);
        }
        while !is_stopped() {
            match self.db.read(tenant, move |tx| check_next(tx, after)).await? {
                CheckStep::Sound(block) => after = Some(block),
                CheckStep::Done => return Ok(None),
                CheckStep::Broken => {
                    tracing::warn!(%tenant, "the search index is damaged; it is built anew");
                    self.db.write(tenant, mark_for_rebuild).await?;
                    return Ok(None);
                }
            }
        }
        Ok(Some(after))
    }
}

/// Opens the next messages that the index lacks and hashes their words, while nobody waits for it.
fn prepare_batch(tx: &mut Tx<'_>, after: Cursor, key: DataKeyId) -> munshi_store::Result<FillBatch> {
    let rows: Vec<Cursor> = tx.all(
        "SELECT id, said_at FROM messages WHERE tenant_id = $1 AND (said_at, id) > ($2, $3)
         ORDER BY said_at, id LIMIT $4",
        params![after.time, after.id, LOOKED_THROUGH],
        |row| Ok(Cursor { time: row.get("said_at")?, id: row.get("id")? }),
    )?;
    let unknown = list_unknown(tx, &rows.iter().map(|row| row.id).collect::<Vec<_>>())?;
    let (documents, taken) = hash_messages(tx, unknown.get(..BATCH).unwrap_or(&unknown), key)?;
    // What is beyond a batch is looked at again with the next.
    let last = match unknown.get(taken) {
        Some(beyond) => rows.iter().take_while(|row| row.id != *beyond).last(),
        None => rows.last(),
    };
    Ok(FillBatch { documents, last: last.copied() })
}

/// The first of some messages, as many as have the tokens of a batch. Says how many these are.
fn hash_messages(
    tx: &mut Tx<'_>,
    ids: &[Uuid],
    key: DataKeyId,
) -> munshi_store::Result<(Vec<IndexDocument>, usize)> {
    let mut hasher = TokenHasher::new(key);
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
