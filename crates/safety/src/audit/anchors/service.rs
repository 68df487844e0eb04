//! Making anchors of chains that have grown.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use munshi_jobs::{JobQueue, NewJob};
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator, TenantId, Timestamp};
use serde_json::json;

use super::file::{Anchor, AnchorFile, AnchorFileSummary, Anchors};
use super::witness::{AnchorFileWitness, ENDS};
use crate::audit::jobs::SEND;
use crate::audit::read::{self, ChainHead};
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, ChainHash, NewAuditEntry, append, verify};
use crate::error::{Error, Result};

/// Which chains are anchored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorTrigger {
    /// Those that have any new entry.
    Moved,
    /// Those that have as many new entries as the settings say.
    Grown,
}

/// Where anchors are sent besides the file and the log. A trait, so that this crate needs no HTTP client of its own.
#[async_trait]
pub trait AnchorWebhook: Send + Sync + fmt::Debug {
    /// Sends a JSON document; the reason, in words, when it was not taken.
    async fn send(&self, body: &str) -> std::result::Result<(), String>;
}

/// What makes anchors: one for the process.
#[derive(Clone, Debug)]
pub struct AnchorService {
    pub(crate) db: Db,
    file: AnchorFile,
    pub(crate) webhook: Option<Arc<dyn AnchorWebhook>>,
    /// So many new entries make a chain [`AnchorTrigger::Grown`].
    entries: i64,
    queue: JobQueue,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdGenerator,
    known: Arc<Mutex<AnchorFileSummary>>,
}

impl AnchorService {
    /// Chains are due when they have `entries` new ones.
    pub fn new(
        db: Db,
        file: AnchorFile,
        entries: i64,
        queue: JobQueue,
        clock: Arc<dyn Clock>,
        ids: IdGenerator,
    ) -> Self {
        Self { db, file, webhook: None, entries, queue, clock, ids, known: Arc::default() }
    }

    /// Sends anchors there too.
    pub fn with_webhook(self, webhook: Option<Arc<dyn AnchorWebhook>>) -> Self {
        Self { webhook, ..self }
    }

    pub fn file(&self) -> &AnchorFile {
        &self.file
    }

    pub async fn anchors(&self) -> Result<Anchors> {
        let file = self.file.clone();
        run_blocking(move || file.read()).await
    }

    /// Anchors what is due but `except` these, and gives the lines that were written. Each chain is walked from its last
    /// anchor first, and one that is broken is left out; nothing is added to a file that was altered. Sending the lines
    /// on is a job of its own, so that nothing waits for a stranger's server while a transaction is open, and a server
    /// that is away is tried again.
    pub async fn anchor(&self, due: AnchorTrigger, except: &[TenantId]) -> Result<Vec<Anchor>> {
        let known = self.summary().await?;
        if let Some(flaw) = &known.flaw {
            tracing::error!(target: "audit.anchor", line = flaw.line, what = flaw.what, "anchor file was altered");
            return Ok(Vec::new());
        }
        let least = if due == AnchorTrigger::Moved { 1 } else { self.entries.max(1) };
        let mut heads = Vec::new();
        for head in read::list_heads(&self.db).await? {
            let mark = known.marks.get(&head.tenant);
            let grown = head.seq - mark.map_or(0, |mark| mark.seq);
            // One that is shorter than its anchor has been cut: the walk says so.
            let is_due = grown >= least || grown < 0;
            if is_due && !except.contains(&head.tenant) && self.is_sound(mark, &head).await? {
                heads.push(head);
            }
        }
        if heads.is_empty() {
            return Ok(Vec::new());
        }
        let made = self.write(heads).await?;
        for Anchor { tenant, seq, hash, at, link, .. } in &made {
            tracing::info!(target: "audit.anchor", %tenant, seq, %hash, %at, %link, "anchored");
        }
        self.record(known.first, &made).await?;
        Ok(made)
    }

    async fn is_sound(&self, mark: Option<&ChainHead>, head: &ChainHead) -> Result<bool> {
        let Some(seq) = verify::find_first_broken(&self.db, mark, head).await? else { return Ok(true) };
        let tenant = head.tenant;
        tracing::error!(target: "audit.anchor", %tenant, seq, "audit chain is broken; not anchored");
        Ok(false)
    }

    /// Begins another file of anchors: the one before is put aside, and the installation's chain says who did it. What
    /// it remembers of chains still counts. Gives where the file before is now.
    pub async fn restart(&self, actor: AuditActor) -> Result<Option<PathBuf>> {
        let (file, now) = (self.file.clone(), self.clock.now());
        let (before, aside) = run_blocking(move || {
            // One that can't be read is put aside all the same.
            let before = file.read().unwrap_or_default();
            Ok((before, file.move_aside(now)?))
        })
        .await?;
        let name =
            aside.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
        let entry = NewAuditEntry {
            actor,
            event: AuditEvent::AUDIT_ANCHORS_RESTARTED,
            subject: "anchors".to_owned(),
            payload: json!({
                "file": before.list.first().map(|anchor| anchor.link), "lines": before.list.len(),
                "flaw": before.flaw, "aside": name,
            }),
        };
        let ids = self.ids.clone();
        self.db.write(TenantId::PLATFORM, move |tx| append(tx, &entry, now, &ids).map(|_| ())).await?;
        Ok(aside)
    }

    /// How far the file is. It is read again only when it has grown: this is asked for every minute.
    async fn summary(&self) -> Result<AnchorFileSummary> {
        let witness = self.db.read(TenantId::PLATFORM, read::find_last_anchor_event).await?;
        let witness = witness
            .filter(|(event, _)| event == AuditEvent::AUDIT_ANCHORED.as_str())
            .and_then(|(_, payload)| AnchorFileWitness::parse(&payload));
        let before = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (file, asked) = (self.file.clone(), before.clone());
        let read = run_blocking(move || file.summary(&asked, witness)).await?;
        let Some(summary) = read else { return Ok(before) };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = summary.clone();
        Ok(summary)
    }

    async fn write(&self, heads: Vec<ChainHead>) -> Result<Vec<Anchor>> {
        let (file, now) = (self.file.clone(), self.clock.now());
        run_blocking(move || file.append(&heads, now)).await
    }

    /// The installation's own chain remembers how long the file was, how it ended and what it says of the chains.
    async fn record(&self, first: Option<ChainHash>, made: &[Anchor]) -> Result<()> {
        let Some(first) = first.or(made.first().map(|anchor| anchor.link)) else { return Ok(()) };
        let entry = |witness: AnchorFileWitness| NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::System, "audit"),
            event: AuditEvent::AUDIT_ANCHORED,
            subject: "anchors".to_owned(),
            payload: witness.payload(),
        };
        let entries: Vec<NewAuditEntry> =
            made.chunks(ENDS).filter_map(|some| AnchorFileWitness::new(first, some)).map(entry).collect();
        let sending = match &self.webhook {
            Some(_) => Some(NewJob::new(SEND, &json!({ "anchors": made })).map_err(Error::from)?),
            None => None,
        };
        let (queue, ids, now): (_, _, Timestamp) = (self.queue.clone(), self.ids.clone(), self.clock.now());
        self.db
            .write(TenantId::PLATFORM, move |tx| {
                if let Some(job) = &sending {
                    queue.enqueue(tx, job).map_err(job_error)?;
                }
                entries.iter().try_for_each(|entry| append(tx, entry, now, &ids).map(|_| ()))
            })
            .await
    }
}

fn job_error(error: munshi_jobs::Error) -> Error {
    match error {
        munshi_jobs::Error::Store(error) => error.into(),
        other => Error::Invalid(other.to_string()),
    }
}

/// Files are read and written where that holds nobody up.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let failed = |error: tokio::task::JoinError| munshi_store::Error::Panicked(error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}
