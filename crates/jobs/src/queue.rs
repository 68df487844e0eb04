//! Putting work in: always inside the caller's own transaction.

use std::sync::Arc;

use munshi_store::{SealedBy, Tx, params};
use munshi_types::{Clock, IdGenerator, JobId};
use tokio::sync::Notify;

use crate::error::Result;
use crate::job::{EnqueueOutcome, NewJob, PAYLOAD};

/// How often a unique job is tried for while its twin comes and goes.
const TRIES: u32 = 10;

/// Handed to whoever enqueues. The wake-up it gives the runner of this process is a shortcut only: a job that nobody
/// was woken for is found by the next poll.
#[derive(Clone, Debug)]
pub struct JobQueue {
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
    wake: Arc<Notify>,
}

impl JobQueue {
    pub fn new(clock: Arc<dyn Clock>, ids: IdGenerator) -> Self {
        Self { clock, ids, wake: Arc::default() }
    }

    pub(crate) fn clock_and_ids(&self) -> (Arc<dyn Clock>, IdGenerator) {
        (self.clock.clone(), self.ids.clone())
    }

    pub(crate) fn wake_signal(&self) -> Arc<Notify> {
        self.wake.clone()
    }

    /// The job exists when the caller's transaction commits, and only then.
    pub fn enqueue(&self, tx: &mut Tx<'_>, job: &NewJob) -> Result<EnqueueOutcome> {
        for _ in 0..TRIES {
            if let Some(id) = self.add(tx, job)? {
                let wake = self.wake.clone();
                tx.after_commit(move || wake.notify_one());
                return Ok(EnqueueOutcome::New(id));
            }
            if let Some(id) = find_duplicate(tx, job)? {
                return Ok(EnqueueOutcome::Existing(id));
            }
        }
        let what =
            format!("can't queue the {} job: jobs with the same key keep appearing and finishing", job.kind);
        Err(munshi_store::Error::Busy(what).into())
    }

    /// None when the same work is waiting or running already.
    fn add(&self, tx: &mut Tx<'_>, job: &NewJob) -> Result<Option<JobId>> {
        let now = self.clock.now();
        let id: JobId = self.ids.next();
        let run_at = job.run_at.unwrap_or(now);
        let state = if run_at <= now { "ready" } else { "scheduled" };
        let priority = job.priority.rank();
        let payload = tx.seal_written(SealedBy::Tenant, PAYLOAD.cell(id), &job.payload)?;
        let added = tx.execute(
            "INSERT INTO jobs (id, tenant_id, kind, priority, payload, unique_key, state, run_at, attempt,
                               max_attempts, created_at)
             VALUES ($2, $1, $3, $4, $5, $6, $7, $8, 0, $9, $10)
             ON CONFLICT (tenant_id, kind, unique_key)
               WHERE unique_key IS NOT NULL AND state IN ('scheduled', 'ready', 'running') DO NOTHING",
            params![id, job.kind, priority, payload, job.unique_key, state, run_at, job.max_attempts, now],
        )?;
        Ok((added == 1).then_some(id))
    }
}

/// The job that keeps this one out; on Postgres it may have ended a moment ago.
fn find_duplicate(tx: &mut Tx<'_>, job: &NewJob) -> Result<Option<JobId>> {
    Ok(tx.optional(
        "SELECT id FROM jobs WHERE tenant_id = $1 AND kind = $2 AND unique_key = $3
           AND state IN ('scheduled', 'ready', 'running')",
        params![job.kind, job.unique_key],
        |row| row.get(0),
    )?)
}

/// Whether a job is still to be done or tried again, or somebody is at it.
pub fn is_open(tx: &mut Tx<'_>, job: JobId) -> munshi_store::Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM jobs WHERE tenant_id = $1 AND id = $2 AND state IN ('scheduled', 'ready', 'running')",
        params![job],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// Deletes a tenant's jobs of a kind whose unique key begins so, in whatever state, and says how many were still to be done. A worker that is at
/// one has lost its lease: what it writes is rolled back. The beginning is made of ids and slashes: `%` and `_` would stand for others.
pub fn delete_by_key(tx: &mut Tx<'_>, kind: &str, beginning: &str) -> munshi_store::Result<u64> {
    let found = tx.all(
        "SELECT id, state FROM jobs WHERE tenant_id = $1 AND kind = $2 AND unique_key LIKE $3 ORDER BY id",
        params![kind, format!("{beginning}%")],
        |row| Ok((row.get::<JobId>(0)?, row.get::<String>(1)?)),
    )?;
    let mut open = 0;
    for (id, state) in found {
        let deleted = tx.execute("DELETE FROM jobs WHERE tenant_id = $1 AND id = $2", params![id])?;
        if !matches!(state.as_str(), "done" | "dead") {
            open += deleted;
        }
    }
    Ok(open)
}
