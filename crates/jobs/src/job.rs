//! A job: what is asked for, and what a worker is handed.

use std::fmt;
use std::str::FromStr;

use munshi_store::{Error, JsonText, PlainColumn, Row, SealedColumn, SealedKey, SealedTable};
use munshi_types::{JobId, TenantId, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::lease::JobLease;

pub(crate) const PAYLOAD: SealedColumn = SealedColumn::new("jobs", "payload");
pub(crate) const LAST_ERROR: SealedColumn = SealedColumn::new("jobs", "last_error");

/// Jobs from before they were sealed.
pub const JOBS_OF_BEFORE: SealedTable = SealedTable {
    name: "jobs",
    key: SealedKey::Id,
    next: (
        "SELECT id AS row_id, NULL AS person, payload, last_error FROM jobs
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        "SELECT id AS row_id, NULL AS person, payload, last_error FROM jobs
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
    ),
    update: "UPDATE jobs SET payload = $3, last_error = $4 WHERE tenant_id = $1 AND id = $2",
    columns: &[PlainColumn::Json(PAYLOAD), PlainColumn::Text(LAST_ERROR)],
};

/// Which jobs go first. Within one, tenants take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// A person is waiting.
    Urgent,
    #[default]
    Normal,
    /// Nobody would notice an hour.
    Background,
}

impl Priority {
    pub(crate) const ALL: [Self; 3] = [Self::Urgent, Self::Normal, Self::Background];

    pub(crate) const fn rank(self) -> i64 {
        match self {
            Self::Urgent => 0,
            Self::Normal => 1,
            Self::Background => 2,
        }
    }

    fn from_rank(rank: i64) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|priority| priority.rank() == rank);
        found.ok_or_else(|| Error::Decode(format!("{rank} is not a priority")))
    }
}

/// Where a job is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for its time, the first or the next.
    Scheduled,
    Ready,
    Running,
    Done,
    /// Given up: shown until somebody runs it again.
    Dead,
}

impl JobState {
    pub const ALL: [Self; 5] = [Self::Scheduled, Self::Ready, Self::Running, Self::Done, Self::Dead];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for JobState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| {
            format!("`{text}` is not a job state: use scheduled, ready, running, done or dead")
        })
    }
}

/// A job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub(crate) kind: &'static str,
    pub(crate) payload: JsonText,
    pub(crate) priority: Priority,
    pub(crate) run_at: Option<Timestamp>,
    pub(crate) unique_key: Option<String>,
    pub(crate) max_attempts: u32,
}

impl NewJob {
    /// Tried this often before it is given up, unless `attempts` says otherwise.
    pub const ATTEMPTS: u32 = 8;

    pub fn new(kind: &'static str, payload: &impl Serialize) -> Result<Self, Error> {
        Ok(Self {
            kind,
            payload: JsonText::of(payload)?,
            priority: Priority::Normal,
            run_at: None,
            unique_key: None,
            max_attempts: Self::ATTEMPTS,
        })
    }

    pub fn kind(&self) -> &'static str {
        self.kind
    }

    pub fn payload(&self) -> &JsonText {
        &self.payload
    }

    pub fn with_payload(self, payload: JsonText) -> Self {
        Self { payload, ..self }
    }

    pub fn priority(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }

    /// Not before this moment.
    pub fn run_at(self, moment: Timestamp) -> Self {
        Self { run_at: Some(moment), ..self }
    }

    /// While a job of this kind and tenant with this key is waiting or running, no second one is made.
    pub fn unique(self, key: impl Into<String>) -> Self {
        Self { unique_key: Some(key.into()), ..self }
    }

    pub fn attempts(self, attempts: u32) -> Self {
        Self { max_attempts: attempts.max(1), ..self }
    }
}

/// What became of enqueueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnqueueOutcome {
    New(JobId),
    /// A job with the same unique key was already waiting or running.
    Existing(JobId),
}

impl EnqueueOutcome {
    pub fn id(self) -> JobId {
        match self {
            Self::New(id) | Self::Existing(id) => id,
        }
    }
}

/// A claimed job, as its handler gets it.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: JobId,
    pub tenant: TenantId,
    pub kind: String,
    pub payload: JsonText,
    /// 1 the first time.
    pub attempt: u32,
    pub max_attempts: u32,
    /// Proof that this worker has the job; finishes it inside the handler's own transaction.
    pub lease: JobLease,
    /// Cancelled when the lease is lost or the process stops. Leave off: unless the job has been ended in a transaction
    /// of its own, it will run again.
    pub cancelled: CancellationToken,
}

impl Job {
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.payload.read()
    }
}

/// A job as it is shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobView {
    pub id: JobId,
    pub tenant: TenantId,
    pub kind: String,
    pub priority: Priority,
    pub state: JobState,
    pub run_at: Timestamp,
    pub attempt: u32,
    pub max_attempts: u32,
    pub last_error: Option<String>,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

impl JobView {
    pub(crate) fn read(row: &Row<'_>) -> Result<Self, Error> {
        let (id, tenant): (JobId, TenantId) = (row.get("id")?, row.get("tenant_id")?);
        let last_error = match row.get_sealed_of::<Option<String>>(tenant, "last_error", LAST_ERROR.cell(id))
        {
            // Whose it was is forgotten, and their jobs are listed still.
            Err(Error::Forgotten(_)) => None,
            opened => opened?,
        };
        Ok(Self {
            id,
            tenant,
            kind: row.get("kind")?,
            priority: Priority::from_rank(row.get("priority")?)?,
            state: row.get::<String>("state")?.parse().map_err(Error::Decode)?,
            run_at: row.get("run_at")?,
            attempt: decode_count(row.get("attempt")?)?,
            max_attempts: decode_count(row.get("max_attempts")?)?,
            last_error,
            created_at: row.get("created_at")?,
            finished_at: row.get("finished_at")?,
        })
    }
}

pub(crate) fn decode_count(number: i64) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| Error::Decode(format!("{number} is not a count")))
}
