//! The job that works on a run: takes it up where there is something to go on with, and keeps it meanwhile.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use munshi_conversations::background::store::{RUN_JOB, RunJobPayload, collect_children, enqueue_run};
use munshi_conversations::runs::{self, Run, RunLease};
use munshi_conversations::{Error, HaltReason, Result, RunState};
use munshi_jobs::{Backoff, Job, JobFailure, JobKind, JobRegistry};
use munshi_llm::calls;
use munshi_pack::operation::PackServices;
use munshi_safety::budget::has_open_reservations;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{PlatformTx, Tx, in_background};
use munshi_types::{Id, RunId, TenantId, TenantStatus, Timestamp};
use tokio_util::sync::CancellationToken;

use super::walk::BackgroundWalk;
use crate::engine::{TurnEngine, TurnEngineInner};
use crate::isolation::TurnPass;
use crate::recover;
use crate::run_loop::crash_loop_halt;

/// A run that another process holds is asked for again after this.
const HELD: Duration = Duration::from_secs(5);
/// Work of a tenant that rests is asked for again after this.
const PAUSED: Duration = Duration::from_secs(60);
/// A time that is nearly there is looked at again after this.
const SOON: Duration = Duration::from_millis(50);
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(2), longest: Duration::from_secs(300) };

/// Whether a run can be gone on with.
enum Readiness {
    Now,
    /// There is nothing to do: it has ended, or what it waits for brings another job.
    Not,
    Later(Duration),
}

impl TurnEngine {
    /// Teaches a runner to work on runs that nobody typed, so many at once. Their kinds ask these services.
    pub fn install_background(&self, registry: &mut JobRegistry, most: usize, services: PackServices) {
        let engine = self.clone();
        let kind = JobKind::new(RUN_JOB).limit(most).backoff(BACKOFF);
        registry.add(kind, move |job| {
            let (engine, services) = (engine.clone(), services.clone());
            in_background(async move { engine.work_on(job, &services).await })
        });
    }

    async fn work_on(&self, job: Job, services: &PackServices) -> std::result::Result<(), JobFailure> {
        let RunJobPayload { run } = job.read()?;
        let (is_last, tenant) = (job.attempt >= job.max_attempts, job.tenant);
        let worked = self.work_once(job, run, services).await;
        match &worked {
            Err(JobFailure::Passing(why)) if is_last => self.give_up(tenant, run, why).await,
            _ => {}
        }
        worked
    }

    /// Ends a run that nobody could work on: one whose row can't be read, say.
    async fn give_up(&self, tenant: TenantId, run: RunId, why: &str) {
        let terms = self.inner.ingest_services.terms(self.inner.clock.now());
        let ended = async {
            let taken = self.inner.db.write(tenant, move |tx| runs::claim_bare(tx, run, terms)).await?;
            let Some(lease) = taken else { return Ok(()) };
            self.inner.end_broken(lease, HaltReason::Broken(why.to_owned())).await
        };
        if let Err(error) = ended.await {
            tracing::error!(%run, %error, "failed to end a background run that nobody could work on");
        }
    }

    async fn work_once(
        &self,
        job: Job,
        run: RunId,
        services: &PackServices,
    ) -> std::result::Result<(), JobFailure> {
        let (inner, terms) = (self.inner.clone(), self.inner.ingest_services.terms(self.inner.clock.now()));
        let taken = self.inner.db.write(job.tenant, move |tx| -> Result<_> {
            let Some(known) = runs::find(tx, run)? else { return Ok((Readiness::Not, None)) };
            let readiness = check_readiness(tx, &inner, &known, terms.now)?;
            let taken = match readiness {
                Readiness::Now => runs::claim(tx, run, terms)?,
                Readiness::Not | Readiness::Later(_) => None,
            };
            Ok((readiness, taken))
        });
        let run = match taken.await.map_err(|error: Error| fail(&error))? {
            (Readiness::Now, Some(run)) => run,
            // Somebody else was quicker.
            (Readiness::Now, None) => return Err(later("the run is held", HELD)),
            (Readiness::Later(after), _) => return Err(later("the run can't be taken up yet", after)),
            (Readiness::Not, _) => return Ok(()),
        };
        let lease = run.lease(job.tenant);
        let worked = tokio::select! {
            biased;
            () = job.cancelled.cancelled() => {
                self.inner.release(lease).await;
                return Err(JobFailure::Passing("the process is shutting down".to_owned()));
            }
            worked = self.inner.clone().walk_under_lease(run.cancel_asked, lease, services) => worked,
        };
        match worked {
            Ok(()) | Err(Error::LostRun(_)) => Ok(()),
            Err(error) => {
                // Whoever gives it up takes it once more; before that its lease keeps others from trying at once.
                if job.attempt >= job.max_attempts {
                    self.inner.release(lease).await;
                }
                Err(fail(&error))
            }
        }
    }
}

impl TurnEngineInner {
    async fn walk_under_lease(
        self: Arc<Self>,
        is_stopped: bool,
        lease: RunLease,
        services: &PackServices,
    ) -> Result<()> {
        let stop = CancellationToken::new();
        if is_stopped {
            stop.cancel();
        }
        let walking = AssertUnwindSafe(self.walk_guarded(lease, stop.clone(), services)).catch_unwind();
        match self.run_under_lease(lease, &stop, walking).await {
            Some(Ok(walked)) => walked,
            Some(Err(_)) => {
                tracing::error!(run = %lease.run, "background run panicked");
                self.end_broken(lease, HaltReason::Broken("the work panicked".to_owned())).await
            }
            None => Err(Error::LostRun(lease.run)),
        }
    }

    /// As a turn is worked on: alone where it may have broken processes before, and no more where it did.
    async fn walk_guarded(
        self: &Arc<Self>,
        lease: RunLease,
        stop: CancellationToken,
        services: &PackServices,
    ) -> Result<()> {
        let pass = self.admit(lease).await?;
        if matches!(pass, TurnPass::SetAside) {
            return self.end_broken(lease, crash_loop_halt()).await;
        }
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let called = calls::sum_spend_of_run(tx, lease.run.as_uuid())?;
            let is_left = lease.epoch > 1 && has_open_reservations(tx, lease.run)?;
            Ok((runs::find(tx, lease.run)?.ok_or(Error::NoRun)?, called, is_left))
        };
        let (run, called, is_left) = self.db.read(lease.tenant, read).await?;
        if is_left {
            let governor = self.act_services.governor.clone();
            self.db.write(lease.tenant, move |tx| governor.release_run(tx, lease.run)).await?;
        }
        let find = move |tx: &mut PlatformTx<'_>| tenants::find(tx, lease.tenant);
        let tenant = self.db.platform(TENANTS).read(find).await?.ok_or(Error::NoRun)?;
        let services = services.for_call(&tenant);
        let walk = BackgroundWalk::new(self.clone(), (run, called), lease, stop, services)?;
        pass.run_guarded(self, Box::pin(walk.walk())).await
    }

    /// Gives the run back, so that whoever comes next need not wait for the lease to pass.
    async fn release(&self, lease: RunLease) {
        let now = self.clock.now();
        if let Err(error) = self.db.write(lease.tenant, move |tx| runs::release(tx, lease, now)).await {
            tracing::debug!(run = %lease.run, %error, "releasing a run failed; its lease passes by itself");
        }
    }
}

fn check_readiness(tx: &mut Tx<'_>, inner: &TurnEngineInner, run: &Run, now: Timestamp) -> Result<Readiness> {
    if run.ended_at.is_some() {
        return Ok(Readiness::Not);
    }
    if run.lease_until.is_some_and(|until| until > now) {
        return Ok(Readiness::Later(HELD));
    }
    let is_stopped = run.cancel_asked;
    if !is_stopped && munshi_store::tenants::find_status(tx)? != Some(TenantStatus::Active) {
        return Ok(Readiness::Later(PAUSED));
    }
    let work = run.snapshot.work.as_ref();
    let is_ready = match run.state {
        RunState::WaitingApproval => recover::can_resume(tx, inner, run, now)?,
        RunState::WaitingChild => {
            let children = work.map(|work| work.children.as_slice()).unwrap_or_default();
            collect_children(tx, children)?.is_some()
        }
        RunState::WaitingTimer => match work.and_then(|work| work.until).filter(|until| *until > now) {
            // Another node's clock may be ahead of this one's.
            Some(until) if !is_stopped => return Ok(Readiness::Later(until.since(now).max(SOON))),
            _ => true,
        },
        _ => true,
    };
    Ok(if is_ready || is_stopped { Readiness::Now } else { Readiness::Not })
}

fn fail(error: &Error) -> JobFailure {
    JobFailure::Passing(error.to_string())
}

fn later(why: &str, after: Duration) -> JobFailure {
    JobFailure::Later { why: why.to_owned(), after }
}

impl TurnEngine {
    /// Has somebody go on with a run of the background; nothing happens where there is nothing to go on with.
    pub(crate) async fn wake(&self, tenant: TenantId, run: RunId, reason: String) -> Result<()> {
        let queue = self.inner.ingest_services.queue.clone();
        let unit = move |tx: &mut Tx<'_>| enqueue_run(tx, &queue, run, &reason, None);
        self.inner.db.write(tenant, unit).await
    }
}
