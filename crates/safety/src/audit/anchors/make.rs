//! Making anchors of chains that have grown.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use munshi_jobs::{NewJob, Queue};
use munshi_store::Db;
use munshi_types::{Clock, Ids, TenantId, Timestamp};
use serde_json::json;

use super::file::{Anchor, AnchorFile, Anchors, Summary};
use crate::audit::daily::SEND;
use crate::audit::read::{self, Head};
use crate::audit::{Actor, ActorKind, Event, Hash, NewEntry, append};
use crate::error::{Error, Result};

/// Which chains are anchored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Those that have any new entry.
    Moved,
    /// Those that have as many new entries as the settings say.
    Grown,
}

/// Where anchors are sent besides the file and the log. A trait, so that this crate needs no HTTP client of its own.
#[async_trait]
pub trait Webhook: Send + Sync + fmt::Debug {
    /// Sends a JSON document; the reason, in words, when it was not taken.
    async fn send(&self, body: &str) -> std::result::Result<(), String>;
}

/// What makes anchors: one for the process.
#[derive(Clone, Debug)]
pub struct Anchoring {
    pub(crate) db: Db,
    file: AnchorFile,
    pub(crate) webhook: Option<Arc<dyn Webhook>>,
    /// So many new entries make a chain [`Due::Grown`].
    entries: i64,
    queue: Queue,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Ids,
    known: Arc<Mutex<Summary>>,
}

impl Anchoring {
    /// Chains are due when they have `entries` new ones.
    pub fn new(
        db: Db,
        file: AnchorFile,
        entries: i64,
        queue: Queue,
        clock: Arc<dyn Clock>,
        ids: Ids,
    ) -> Self {
        Self { db, file, webhook: None, entries, queue, clock, ids, known: Arc::default() }
    }

    /// Sends anchors there too.
    pub fn with_webhook(self, webhook: Option<Arc<dyn Webhook>>) -> Self {
        Self { webhook, ..self }
    }

    pub fn file(&self) -> &AnchorFile {
        &self.file
    }

    pub async fn anchors(&self) -> Result<Anchors> {
        let file = self.file.clone();
        blocking(move || file.read()).await
    }

    /// Anchors what is due but `except` these, and gives the lines that were written. Sending them on is a job of its
    /// own, so that nothing waits for a stranger's server while a transaction is open, and a server that is away is
    /// tried again.
    pub async fn anchor(&self, due: Due, except: &[TenantId]) -> Result<Vec<Anchor>> {
        let known = self.summary().await?;
        let least = if due == Due::Moved { 1 } else { self.entries.max(1) };
        let mut heads = read::heads(&self.db).await?;
        heads.retain(|head| head.seq - known.marks.get(&head.tenant).copied().unwrap_or(0) >= least);
        heads.retain(|head| !except.contains(&head.tenant));
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

    /// How far the file is. It is read again only when it has grown: this is asked for every minute.
    async fn summary(&self) -> Result<Summary> {
        let before = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (file, asked) = (self.file.clone(), before.clone());
        let Some(summary) = blocking(move || file.summary(&asked)).await? else { return Ok(before) };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = summary.clone();
        Ok(summary)
    }

    async fn write(&self, heads: Vec<Head>) -> Result<Vec<Anchor>> {
        let (file, now) = (self.file.clone(), self.clock.now());
        blocking(move || file.append(&heads, now)).await
    }

    /// The installation's own chain remembers how long the file was and how it ended, so that its end can't be cut off
    /// unseen.
    async fn record(&self, first: Option<Hash>, made: &[Anchor]) -> Result<()> {
        let (Some(last), Some(first)) = (made.last(), first.or(made.first().map(|anchor| anchor.link)))
        else {
            return Ok(());
        };
        let entry = NewEntry {
            actor: Actor::new(ActorKind::System, "audit"),
            event: Event::AUDIT_ANCHORED,
            subject: "anchors".to_owned(),
            payload: json!({
                "file": first, "lines": last.line, "link": last.link, "made": made.len(),
            }),
        };
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
                append(tx, &entry, now, &ids).map(|_| ())
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
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let failed = |error: tokio::task::JoinError| munshi_store::Error::Panicked(error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}
