//! One job from start to end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use munshi_store::{Db, Tx, is_sealed};
use munshi_types::{Clock, Random, Timestamp};
use tokio::sync::Notify;
use tracing::Instrument;

use crate::error::{Error, JobFailure, Result};
use crate::job::{Job, PAYLOAD};
use crate::lease::JobLease;
use crate::meter;
use crate::registry::JobHandlerEntry;
use crate::running_jobs::RunningJobs;

/// As much of a failure as is kept, in characters.
const LONGEST_REASON: usize = 2000;

/// What one job's task needs of its runner.
pub(crate) struct JobTaskContext {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) entry: JobHandlerEntry,
    pub(crate) running: RunningJobs,
    pub(crate) wake: Arc<Notify>,
}

/// How a job's run ended, for the count.
enum Ended {
    Done,
    Retried,
    Dead,
    /// Put back because the process stops.
    PutBack,
    /// Somebody else has it now.
    Lost,
}

impl Ended {
    const fn label(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Retried => "retried",
            Self::Dead => "dead",
            Self::PutBack => "put_back",
            Self::Lost => "lost",
        }
    }
}

pub(crate) async fn run(mut job: Job, context: JobTaskContext) {
    let span = tracing::info_span!("job", otel.name = format!("job.{}", job.kind), job = %job.id, tenant = %job.tenant,
        kind = job.kind, attempt = job.attempt);
    let began = Instant::now();
    async {
        let outcome = match open_payload(&mut job, &context.db).await {
            Ok(()) => run_handler(&job, &context).await,
            Err(failure) => Err(failure),
        };
        match record(&job, &context, outcome).await {
            Ok(ended) => meter::record_finished(&job.kind, ended.label(), began.elapsed()),
            Err(error) => {
                tracing::error!(%error, "failed to record the job's outcome; it runs again when its lease expires");
            }
        }
    }
    .instrument(span)
    .await;
    context.running.remove(job.lease);
    context.wake.notify_one();
}

/// Jobs are claimed across tenants, in one unit for many: what one of them says is opened in its own tenant's. A key that can't be had
/// holds up nobody else's job, and no lock meanwhile.
async fn open_payload(job: &mut Job, db: &Db) -> Result<(), JobFailure> {
    if is_sealed(job.payload.as_str()) {
        let (cell, stored) = (PAYLOAD.cell(job.id), job.payload.clone());
        job.payload = db.read(job.tenant, move |tx| tx.open_json(cell, &stored)).await?;
    }
    Ok(())
}

/// A handler that panics has failed like any other.
async fn run_handler(job: &Job, context: &JobTaskContext) -> Result<(), JobFailure> {
    // Calling the handler is inside too: it may panic before its first await.
    let handler = context.entry.handler.clone();
    let copy = job.clone();
    let handler = AssertUnwindSafe(async move { handler(copy).await }).catch_unwind();
    tokio::select! {
        outcome = handler => outcome.unwrap_or_else(|panic| Err(JobFailure::Passing(describe_panic(panic.as_ref())))),
        () = wait_for_cancellation(job) => Err(JobFailure::Passing("cancelled".to_owned())),
    }
}

/// A job that was told to leave off gets a moment to do so by itself.
async fn wait_for_cancellation(job: &Job) {
    job.cancelled.cancelled().await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
}

fn describe_panic(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the handler panicked: {}", text.unwrap_or("no message"))
}

async fn record(job: &Job, context: &JobTaskContext, outcome: Result<(), JobFailure>) -> Result<Ended> {
    let (now, lease) = (context.clock.now(), job.lease);
    if job.cancelled.is_cancelled() {
        // Whatever it returned: it was told to leave off, and has not ended the job in a transaction of its own.
        let back =
            move |tx: &mut Tx<'_>| if lease.is_done(tx)? { Ok(None) } else { lease.requeue(tx).map(Some) };
        return Ok(match context.db.write(job.tenant, back).await? {
            None => Ended::Done,
            Some(true) => Ended::PutBack,
            Some(false) => Ended::Lost,
        });
    }
    let Err(failure) = outcome else {
        return context.db.write(job.tenant, move |tx| finish(tx, lease, now)).await;
    };
    let why: String = failure.to_string().replace('\0', "").chars().take(LONGEST_REASON).collect();
    if matches!(failure, JobFailure::Outage(_)) {
        let at = now.plus(context.entry.backoff.delay_after(job.attempt, context.random.as_ref()));
        tracing::warn!(why, "job interrupted by an outage; retrying later");
        let held = context.db.write(job.tenant, move |tx| lease.put_off(tx, at, &why)).await?;
        return Ok(if held { Ended::Retried } else { Ended::Lost });
    }
    if matches!(failure, JobFailure::Lasting(_)) || job.attempt >= job.max_attempts {
        tracing::error!(why, "job failed permanently; moved to dead letters");
        let bury = move |tx: &mut Tx<'_>| lease.mark_dead(tx, now, &why);
        let held = context.db.write(job.tenant, bury).await?;
        return Ok(if held { Ended::Dead } else { Ended::Lost });
    }
    let pause = match failure {
        JobFailure::Later { after, .. } => after,
        _ => context.entry.backoff.delay_after(job.attempt, context.random.as_ref()),
    };
    tracing::warn!(why, "job failed; retrying later");
    let held = context.db.write(job.tenant, move |tx| lease.retry(tx, now.plus(pause), &why)).await?;
    Ok(if held { Ended::Retried } else { Ended::Lost })
}

/// Ends a job whose handler did not do so in a transaction of its own.
fn finish(tx: &mut Tx<'_>, lease: JobLease, now: Timestamp) -> Result<Ended> {
    match lease.complete(tx, now) {
        Ok(()) => Ok(Ended::Done),
        Err(Error::LeaseLost(_)) if lease.is_done(tx)? => Ok(Ended::Done),
        Err(Error::LeaseLost(_)) => Ok(Ended::Lost),
        Err(error) => Err(error),
    }
}
