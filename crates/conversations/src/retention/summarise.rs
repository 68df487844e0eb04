//! Older turns as a few lines.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_identity::persons::seal_by_person;
use munshi_jobs::{Job, JobFailure, JobKind, JobQueue, JobRegistry, NewJob, Priority};
use munshi_store::{Db, Tx, params};
use munshi_types::tier::LanguageCode;
use munshi_types::{BindingId, MessageId, PersonId, RunId, SessionId, TenantId};
use serde::{Deserialize, Serialize};

use super::extract::{extract, truncate};
use crate::error::Result;
use crate::messages::{self, Message, MessageSpeaker};
use crate::sealing::seal_optional;
use crate::sessions::{self, ASIDE, SUMMARY, Session};
use crate::taint_bits;

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
pub struct SummaryInput {
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
    async fn summarise(&self, tenant: TenantId, material: &SummaryInput) -> Option<String>;
}

/// Whether a session of so many messages, so many of them in its summary, should be summarised.
pub const fn is_summary_due(messages: i64, summarised: i64) -> bool {
    messages - summarised > DUE
}

/// Makes the job, unless there is one.
pub fn enqueue_summary(tx: &mut Tx<'_>, queue: &JobQueue, session: SessionId) -> Result<()> {
    let job = NewJob::new(KIND, &Payload { session })?.priority(Priority::Background);
    queue.enqueue(tx, &job.unique(session.to_string()))?;
    Ok(())
}

/// The job that brings a session's summary up to date.
#[derive(Clone)]
pub struct SummaryJob {
    pub db: Db,
    pub model: Option<Arc<dyn Summariser>>,
}

impl SummaryJob {
    pub fn install(&self, registry: &mut JobRegistry) {
        let summarising = self.clone();
        registry.add(JobKind::new(KIND).limit(2), move |job| {
            let summarising = summarising.clone();
            async move { summarising.run(&job).await }
        });
    }

    /// A step covers so many messages; steps follow until only the newest are left.
    async fn run(&self, job: &Job) -> Result<(), JobFailure> {
        let session = job.read::<Payload>()?.session;
        while !job.cancelled.is_cancelled() {
            let found = self.db.read(job.tenant, move |tx| gather(tx, session)).await?;
            let Some(contributions) = found else { return Ok(()) };
            let summaries = self.write(job.tenant, &contributions).await;
            let unit = move |tx: &mut Tx<'_>| store_summaries(tx, &contributions.covers, &summaries);
            // Somebody else was quicker, or the session was merged: the next look says what is left.
            self.db.write(job.tenant, unit).await?;
        }
        Err(JobFailure::Passing("job cancelled".to_owned()))
    }

    /// Both together are no longer than one may be.
    async fn write(&self, tenant: TenantId, contributions: &Gathered) -> Summaries {
        let Gathered { own, others, others_tainted, .. } = contributions;
        let longest = if others.is_empty() || own.is_empty() { LONGEST } else { LONGEST / 2 };
        let summary = self.write_one(tenant, own, longest).await;
        let tainted_summary = self.write_one(tenant, others, longest).await;
        let tainted_summary_sources = if tainted_summary.is_some() { *others_tainted } else { 0 };
        Summaries { summary, tainted_summary, tainted_summary_sources }
    }

    /// What stood there before is kept where nothing is added to it.
    async fn write_one(&self, tenant: TenantId, material: &SummaryInput, longest: usize) -> Option<String> {
        if material.messages.is_empty() {
            return material.before.as_deref().map(|before| truncate(before, longest));
        }
        let asked = match &self.model {
            Some(model) => model.summarise(tenant, material).await,
            None => None,
        };
        let written = asked.map(|text| text.replace('\0', "")).filter(|text| !text.trim().is_empty());
        Some(match written {
            Some(text) => truncate(text.trim(), longest),
            None => extract(material.before.as_deref(), &material.messages, longest),
        })
    }
}

/// What is to be told shorter, the turns apart that have read other people's words: what they said is theirs in a summary,
/// too, and goes when it has left the conversation.
struct Gathered {
    own: SummaryInput,
    others: SummaryInput,
    others_tainted: i64,
    covers: Covers,
}

impl SummaryInput {
    fn is_empty(&self) -> bool {
        self.before.is_none() && self.messages.is_empty()
    }
}

/// What stands for earlier messages.
struct Summaries {
    summary: Option<String>,
    tainted_summary: Option<String>,
    tainted_summary_sources: i64,
}

/// Which messages a summary stands for.
#[derive(Clone, Copy, Debug)]
struct Covers {
    session: SessionId,
    /// Whose it is.
    person: PersonId,
    /// Where the one before ends.
    from: i64,
    to: i64,
    /// The message at its end, where that is not in the archive.
    last: Option<MessageId>,
}

/// What is to be summarised next.
fn gather(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<Gathered>> {
    let Some(found) = sessions::find(tx, session)? else { return Ok(None) };
    let to = (found.messages - KEPT).min(found.summarised + MOST);
    if found.merged_into.is_some()
        || !is_summary_due(found.messages, found.summarised)
        || to <= found.summarised
    {
        return Ok(None);
    }
    let messages = messages::list_between(tx, session, found.summarised + 1, to)?;
    let last = messages.last().filter(|message| message.number == to).map(|message| message.id);
    let covers = Covers { session, person: found.person, from: found.summarised, to, last };
    // A summary goes to whatever model is asked later.
    let kept = messages::collect_local_only_runs(&messages);
    let mut messages: Vec<Message> = messages.into_iter().filter(|said| !kept.contains(&said.run)).collect();
    let read: Vec<(RunId, i64)> = messages
        .iter()
        .map(|said| (said.run, taint_bits::read_message_bits(said, &found)))
        .filter(|(_, bits)| *bits != 0)
        .collect();
    let others = messages.extract_if(.., |said| read.iter().any(|(run, _)| *run == said.run)).collect();
    let new = read.iter().fold(0, |all, (_, bits)| all | bits);
    let (before, tainted_summary, old) = split_previous_summary(&found, new != 0);
    let material = |before: Option<String>, messages: Vec<Message>| SummaryInput {
        binding: found.binding,
        session,
        language: found.language.clone(),
        before,
        messages,
    };
    let (own, others) = (material(before, messages), material(tainted_summary, others));
    Ok(Some(Gathered { own, others, others_tainted: new | old, covers }))
}

/// What goes on in the summary, what does aside of it, and whose words that has. Where no turn has read anything since, what
/// stood aside has left the conversation. Of a summary that was made before the two were apart nobody knows what it is made
/// of: it goes on aside.
fn split_previous_summary(session: &Session, is_read: bool) -> (Option<String>, Option<String>, i64) {
    if session.tainted != 0 {
        let whole = session.whole_summary();
        return (None, whole, session.tainted | session.tainted_summary_sources);
    }
    let tainted_summary = session.tainted_summary.clone().filter(|_| is_read);
    let old = if tainted_summary.is_some() { session.tainted_summary_sources } else { 0 };
    (session.summary.clone(), tainted_summary, old)
}

/// Keeps the summary if it still covers what it was made of: a merge may have put other messages in between.
fn store_summaries(tx: &mut Tx<'_>, covers: &Covers, summaries: &Summaries) -> Result<()> {
    let Covers { session, person, from, to, last } = *covers;
    let stands: Option<(i64, i64)> = tx.optional(
        (
            "SELECT summarised, tainted FROM sessions WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL",
            "SELECT summarised, tainted FROM sessions WHERE tenant_id = $1 AND id = $2 AND merged_into IS NULL FOR UPDATE",
        ),
        params![session],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let is_there = match last {
        Some(message) => messages::find(tx, message)?.is_none_or(|found| found.number == to),
        None => true,
    };
    let Some((_, tainted)) = stands.filter(|(at, _)| *at == from && is_there) else { return Ok(()) };
    let tainted = if tainted == 0 || has_recorded_taint(tx, session, to)? { 0 } else { tainted };
    let by = seal_by_person(tx, person)?;
    let summary = seal_optional(tx, by, SUMMARY.cell(session), summaries.summary.as_deref())?;
    let aside = seal_optional(tx, by, ASIDE.cell(session), summaries.tainted_summary.as_deref())?;
    tx.execute(
        "UPDATE sessions SET summary = $3, summarised = $4, aside = $5, aside_tainted = $6, tainted = $7
         WHERE tenant_id = $1 AND id = $2",
        params![session, summary, to, aside, summaries.tainted_summary_sources, tainted],
    )?;
    Ok(())
}

/// Whether every reply behind a number tells itself whose words it has: then nothing rests any more on what was once known of
/// the whole session.
fn has_recorded_taint(tx: &mut Tx<'_>, session: SessionId, number: i64) -> Result<bool> {
    let left = messages::list_between(tx, session, number + 1, i64::MAX)?;
    let mut replies = left.iter().filter(|said| said.speaker == MessageSpeaker::Persona);
    Ok(replies.all(|said| said.marks["tainted"].is_i64()))
}
