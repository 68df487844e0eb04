//! Older turns as a few lines.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_jobs::{Failure, Job, Kind, NewJob, Priority, Queue, Registry};
use munshi_store::{Db, Tx, params};
use munshi_types::tier::LanguageCode;
use munshi_types::{BindingId, MessageId, SessionId, TenantId};
use serde::{Deserialize, Serialize};

use super::extract::{extract, shortened};
use crate::error::Result;
use crate::messages::{self, Message};
use crate::sessions;

pub const KIND: &str = "session.summarise";

/// So many of the newest messages are told as they were said.
pub const KEPT: i64 = 10;
/// So many beyond what stands in the summary, and it is time for another.
const DUE: i64 = 20;
/// So many are read at a time; the rest follows with the next job.
const MOST: i64 = 200;
/// In characters: a summary takes this much of a prompt at most.
pub const LONGEST: usize = 2000;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Payload {
    session: SessionId,
}

/// What is to be told shorter.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    pub binding: BindingId,
    pub session: SessionId,
    pub language: Option<LanguageCode>,
    /// What stands for everything before.
    pub before: Option<String>,
    /// The oldest first.
    pub messages: Vec<Message>,
}

/// A model that writes summaries.
#[async_trait]
pub trait Summariser: Send + Sync + 'static {
    /// None where no model can be asked now; what was said is shortened then.
    async fn summarise(&self, tenant: TenantId, material: &Material) -> Option<String>;
}

/// Whether a session of so many messages, so many of them in its summary, should be summarised.
pub const fn is_due(messages: i64, summarised: i64) -> bool {
    messages - summarised > DUE
}

/// Makes the job, unless there is one.
pub(crate) fn ask(tx: &mut Tx<'_>, queue: &Queue, session: SessionId) -> Result<()> {
    let job = NewJob::new(KIND, &Payload { session })?.priority(Priority::Background);
    queue.enqueue(tx, &job.unique(session.to_string()))?;
    Ok(())
}

/// The job that brings a session's summary up to date.
#[derive(Clone)]
pub struct Summarising {
    pub db: Db,
    pub model: Option<Arc<dyn Summariser>>,
}

impl Summarising {
    pub fn install(&self, registry: &mut Registry) {
        let summarising = self.clone();
        registry.add(Kind::new(KIND).limit(2), move |job| {
            let summarising = summarising.clone();
            async move { summarising.run(&job).await }
        });
    }

    /// A step covers so many messages; steps follow until only the newest are left.
    async fn run(&self, job: &Job) -> Result<(), Failure> {
        let session = job.read::<Payload>()?.session;
        while !job.cancelled.is_cancelled() {
            let found = self.db.read(job.tenant, move |tx| gather(tx, session)).await?;
            let Some((material, covers)) = found else { return Ok(()) };
            let summary = self.write(job.tenant, &material).await;
            let unit = move |tx: &mut Tx<'_>| keep(tx, &covers, &summary);
            // Somebody else was quicker, or the session was merged: the next look says what is left.
            self.db.write(job.tenant, unit).await?;
        }
        Err(Failure::Passing("told to leave off".to_owned()))
    }

    async fn write(&self, tenant: TenantId, material: &Material) -> String {
        let asked = match &self.model {
            Some(model) => model.summarise(tenant, material).await,
            None => None,
        };
        let written = asked.map(|text| text.replace('\0', "")).filter(|text| !text.trim().is_empty());
        match written {
            Some(text) => shortened(text.trim(), LONGEST),
            None => extract(material.before.as_deref(), &material.messages, LONGEST),
        }
    }
}

/// Which messages a summary stands for.
#[derive(Clone, Copy, Debug)]
struct Covers {
    session: SessionId,
    /// Where the one before ends.
    from: i64,
    to: i64,
    /// The message at its end, where that is not in the archive.
    last: Option<MessageId>,
}

/// What is to be summarised next.
fn gather(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<(Material, Covers)>> {
    let Some(found) = sessions::find(tx, session)? else { return Ok(None) };
    let to = (found.messages - KEPT).min(found.summarised + MOST);
    if found.merged_into.is_some() || !is_due(found.messages, found.summarised) || to <= found.summarised {
        return Ok(None);
    }
    let messages = messages::between(tx, session, found.summarised + 1, to)?;
    let last = messages.last().filter(|message| message.number == to).map(|message| message.id);
    let covers = Covers { session, from: found.summarised, to, last };
    // A summary goes to whatever model is asked later.
    let kept = messages::that_stay(&messages);
    let messages = messages.into_iter().filter(|said| !kept.contains(&said.run)).collect();
    let material = Material {
        binding: found.binding,
        session,
        language: found.language,
        before: found.summary,
        messages,
    };
    Ok(Some((material, covers)))
}

/// Keeps the summary if it still covers what it was made of: a merge may have put other messages in between.
fn keep(tx: &mut Tx<'_>, covers: &Covers, summary: &str) -> Result<()> {
    let Covers { session, from, to, last } = *covers;
    let stands_at: Option<i64> = tx.optional(
        (
            "SELECT summarised FROM sessions WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL",
            "SELECT summarised FROM sessions WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL FOR UPDATE",
        ),
        params![session],
        |row| row.get(0),
    )?;
    let is_there = match last {
        Some(message) => messages::find(tx, message)?.is_none_or(|found| found.number == to),
        None => true,
    };
    if stands_at == Some(from) && is_there {
        tx.execute(
            "UPDATE sessions SET summary = $3, summarised = $4 WHERE tenant_id = $1 AND id = $2",
            params![session, summary, to],
        )?;
    }
    Ok(())
}
