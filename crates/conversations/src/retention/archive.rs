//! Messages past the hot period go to files, and only then from the table; with them the steps of their runs, and what a
//! session that rests so long still knew.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use munshi_jobs::schedule::{Schedule, ScheduleRule};
use munshi_jobs::{Job, JobFailure, JobKind, JobRegistry};
use munshi_safety::policy::{self, RetentionPeriods};
use munshi_store::{Db, JsonText, Row, Tx, in_background, params};
use munshi_types::{Clock, Id, MessageId, PersonId, RunId, TenantId, Timestamp, Zone};
use serde::Serialize;
use tokio::sync::Mutex;
use uuid::Uuid;

use super::clock_check::check_clock;
use super::expired_files::expire_files;
use super::expiry::{ExpiryReport, expire, remove_prompts};
use super::file::{self, SealedLine};
use crate::error::{Error, Result};
use crate::messages::{self, Message};
use crate::outbox;
use crate::sealing::seal_by_owner;
use crate::search::remove_from_index;
use crate::{handoffs, human_requests, whispers};

pub const KIND: &str = "messages.archive";

/// Held while a file of the archive is written: whoever writes one anew read it before.
pub(super) static ARCHIVE_FILES: Mutex<()> = Mutex::const_new(());

/// So many in one file.
const STEP: i64 = 2000;

/// What becomes of a tenant's messages when they are old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// To the archive after so long.
    Hot(Duration),
    /// They stay where they are, as the owner wishes.
    Kept,
}

impl Retention {
    pub const DEFAULT: Self = Self::Hot(Duration::from_secs(90 * 86_400));
}

/// The job that archives a tenant's old messages.
#[derive(Clone)]
pub struct ArchiveJob {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    /// A folder of files for each tenant is made in it.
    pub folder: PathBuf,
    /// Of tenants whose policy says nothing.
    pub usual: Retention,
}

/// Every night at a quiet hour of the tenant's.
pub fn build_schedule() -> Result<Schedule> {
    Ok(Schedule::new(KIND, KIND, &serde_json::json!({}), ScheduleRule::cron("20 3 * * *")?)?)
}

/// The same for one tenant alone.
pub fn schedule(tx: &mut Tx<'_>, zone: &Zone, now: Timestamp) -> Result<()> {
    munshi_jobs::schedule::set(tx, &build_schedule()?, zone, now)?;
    Ok(())
}

/// A line of the archive: the message, and what became of it where it was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Line {
    #[serde(flatten)]
    message: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<Delivery>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Delivery {
    state: String,
    outside_id: Option<String>,
    sent_at: Option<Timestamp>,
}

impl ArchiveJob {
    pub fn install(&self, registry: &mut JobRegistry) {
        let archivist = self.clone();
        registry.add(JobKind::new(KIND).limit(1), move |job| {
            let archivist = archivist.clone();
            async move { in_background(archivist.run(&job)).await }
        });
    }

    async fn run(&self, job: &Job) -> Result<(), JobFailure> {
        let now = self.clock.now();
        let periods = self.load_periods(job.tenant).await?;
        let ended = check_clock(&self.db, job.tenant, periods, now).await?;
        let mut expired = expire(&self.db, job.tenant, &ended, now).await?;
        if periods.prompts_days.is_none() {
            expired.prompts = remove_prompts(&self.db, job.tenant).await?;
        }
        let lines = expire_files(&self.folder, job.tenant, ended.messages_days, now).await?;
        if expired != ExpiryReport::default() || lines > 0 {
            let ExpiryReport { messages, runs, files, acts, prompts } = expired;
            tracing::info!(tenant = %job.tenant, messages, archived = lines, runs, files, acts, prompts, "deleted past retention");
        }
        loop {
            if job.cancelled.is_cancelled() {
                return Err(JobFailure::Passing("job cancelled".to_owned()));
            }
            if self.archive_batch(job.tenant).await? == 0 {
                break;
            }
        }
        if let Retention::Hot(hot) = self.choose(&periods) {
            let before = now.minus(hot);
            self.db.write(job.tenant, move |tx| clear_idle_sessions(tx, before)).await?;
        }
        // Codes are good for minutes, and nobody needs their rows after a day.
        let sweep = move |tx: &mut Tx<'_>| munshi_identity::codes::sweep(tx, now).map_err(Error::from);
        self.db.write(job.tenant, sweep).await?;
        Ok(())
    }

    async fn load_periods(&self, tenant: TenantId) -> Result<RetentionPeriods> {
        let (_, policy) = self.db.read(tenant, policy::load_current).await?;
        Ok(policy.retention)
    }

    fn choose(&self, periods: &RetentionPeriods) -> Retention {
        let days = |days: u32| Retention::Hot(Duration::from_secs(u64::from(days) * 86_400));
        periods.archive_after_days.map_or(self.usual, days)
    }

    /// Archives some, the oldest first, and says how many. Done again after a crash it writes the same file again, since
    /// a file is named by its first message and nothing goes from the table before its file is safely there.
    pub async fn archive_batch(&self, tenant: TenantId) -> Result<usize> {
        let periods = self.load_periods(tenant).await?;
        let Retention::Hot(hot) = self.choose(&periods) else { return Ok(0) };
        let before = self.clock.now().minus(hot);
        let _guard = ARCHIVE_FILES.lock().await;
        // It may give a key to somebody who has none yet, so it is more than reading.
        let Some(batch) = self.db.write(tenant, move |tx| seal_batch(tx, before)).await? else {
            return Ok(0);
        };
        let SealedBatch { name, ids, lines } = batch;
        let count = ids.len();
        let folder = self.folder.clone();
        let unwritten = |why: String| Error::Archive(why);
        let written = tokio::task::spawn_blocking(move || file::write(&folder, tenant, &name, &lines)).await;
        let path = written
            .map_err(|error| unwritten(error.to_string()))?
            .map_err(|error| unwritten(format!("{}: {error}", self.folder.display())))?;
        remove_from_index(&self.db, tenant, collect_messages(&ids)).await?;
        self.db.write(tenant, move |tx| remove(tx, &ids)).await?;
        tracing::info!(%tenant, count, file = %path.display(), "old messages archived");
        Ok(count)
    }
}

/// The lines of a file, ready to be written.
struct SealedBatch {
    /// Of the file.
    name: String,
    ids: Vec<(MessageId, RunId)>,
    lines: Vec<SealedLine>,
}

/// None where nothing is old enough.
fn seal_batch(tx: &mut Tx<'_>, before: Timestamp) -> Result<Option<SealedBatch>> {
    let mut lines = list_archivable(tx, before)?;
    let Some((first, _)) = lines.first() else { return Ok(None) };
    let day = first.message.said_at.to_string();
    let name = format!("{}-{}", day.get(..10).unwrap_or("messages"), first.message.id);
    // As it is read: what was said at one moment stands in the order of its session.
    lines.sort_by_key(|(line, _)| (line.message.said_at, line.message.session, line.message.number));
    let ids = lines.iter().map(|(line, _)| (line.message.id, line.message.run)).collect();
    let sealed = lines.iter().map(|(line, person)| {
        let by = seal_by_owner(tx, *person)?;
        SealedLine::seal(tx, by, (line.message.id, line))
    });
    let lines = sealed.collect::<munshi_store::Result<_>>()?;
    Ok(Some(SealedBatch { name, ids, lines }))
}

/// A message of an archive file, by its line.
pub fn read_archived(tx: &Tx<'_>, line: &str) -> munshi_store::Result<Message> {
    file::read_line(tx, line)
}

/// Old messages of runs that have ended, and that nobody is about to send, with whose they are.
fn list_archivable(tx: &mut Tx<'_>, before: Timestamp) -> Result<Vec<(Line, Option<PersonId>)>> {
    let found = tx.all(
        "SELECT m.id, m.session_id, m.number, m.run_id, m.binding_id, m.speaker, m.colleague_id, m.channel, m.outside_id,
                m.text, m.attached, m.language, m.tokens, m.standing, m.generation, m.marks, m.suggestions, m.said_at,
                o.state AS sent_state, o.outside_id AS sent_as, o.sent_at, r.person_id
         FROM messages m
         JOIN runs r ON r.tenant_id = $1 AND r.id = m.run_id
         LEFT JOIN outbox o ON o.tenant_id = $1 AND o.message_id = m.id
         WHERE m.tenant_id = $1 AND m.said_at < $2 AND r.ended_at IS NOT NULL
           AND (o.state IS NULL OR o.state NOT IN ('waiting', 'sending'))
         ORDER BY m.said_at, m.id LIMIT $3",
        params![before, STEP],
        read_line,
    )?;
    Ok(found)
}

fn read_line(row: &Row<'_>) -> munshi_store::Result<(Line, Option<PersonId>)> {
    let message = messages::read(row)?;
    let state: Option<String> = row.get("sent_state")?;
    let delivery = match state {
        Some(state) => {
            let outside_id = row.get_sealed("sent_as", outbox::OUTSIDE_ID.cell(message.id))?;
            Some(Delivery { state, outside_id, sent_at: row.get("sent_at")? })
        }
        None => None,
    };
    Ok((Line { message, delivery }, row.get("person_id")?))
}

/// Exactly those that stand in the file, and the steps of their runs: what tools were given and what they answered.
pub(super) fn remove(tx: &mut Tx<'_>, ids: &[(MessageId, RunId)]) -> Result<()> {
    let searched = collect_messages(ids);
    munshi_index::remove(tx, &searched)?;
    outbox::delete_delivery_alerts(tx, &searched)?;
    let messages = encode_ids(searched.into_iter())?;
    let runs = encode_ids(ids.iter().map(|(_, run)| run.as_uuid()))?;
    tx.execute(
        (
            "DELETE FROM outbox WHERE tenant_id = $1 AND message_id IN (SELECT unhex(value) FROM json_each($2))",
            "DELETE FROM outbox WHERE tenant_id = $1
               AND message_id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![messages],
    )?;
    tx.execute(
        (
            "DELETE FROM messages WHERE tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))",
            "DELETE FROM messages WHERE tenant_id = $1
               AND id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![messages],
    )?;
    tx.execute(
        (
            "DELETE FROM run_steps WHERE tenant_id = $1 AND run_id IN (SELECT unhex(value) FROM json_each($2))",
            "DELETE FROM run_steps WHERE tenant_id = $1
               AND run_id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![runs],
    )?;
    Ok(())
}

pub(super) fn collect_messages(ids: &[(MessageId, RunId)]) -> Vec<Uuid> {
    ids.iter().map(|(message, _)| message.as_uuid()).collect()
}

fn encode_ids(ids: impl Iterator<Item = Uuid>) -> Result<JsonText> {
    Ok(JsonText::of(&ids.map(|id| id.simple().to_string()).collect::<Vec<_>>())?)
}

/// What sessions knew in which nobody has written since: whoever comes back begins anew.
pub(super) fn clear_idle_sessions(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    tx.execute(
        (
            "UPDATE sessions SET summary = NULL, aside = NULL, entities = '{}', masked = NULL, active = NULL,
                    draft = NULL
             WHERE tenant_id = $1 AND last_at < $2
               AND (summary IS NOT NULL OR aside IS NOT NULL OR entities <> '{}' OR masked IS NOT NULL
                    OR active IS NOT NULL OR draft IS NOT NULL)",
            "UPDATE sessions SET summary = NULL, aside = NULL, entities = '{}'::jsonb, masked = NULL, active = NULL,
                    draft = NULL
             WHERE tenant_id = $1 AND last_at < $2
               AND (summary IS NOT NULL OR aside IS NOT NULL OR entities <> '{}'::jsonb OR masked IS NOT NULL
                    OR active IS NOT NULL OR draft IS NOT NULL)",
        ),
        params![before],
    )?;
    handoffs::delete_before(tx, before)?;
    whispers::delete_before(tx, before)?;
    human_requests::delete_before(tx, before)?;
    Ok(())
}
