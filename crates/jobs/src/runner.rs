//! The loop that claims jobs and runs them, until told to stop.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use munshi_store::{Db, PlatformTx};
use munshi_types::{Clock, IdGenerator, LeaseId, Random, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::JOBS;
use crate::claim::{BesideRoom, ClaimRequest, ClaimRotation, claim};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::job_task::{self, JobTaskContext};
use crate::lease;
use crate::meter;
use crate::queue::JobQueue;
use crate::registry::JobRegistry;
use crate::running_jobs::RunningJobs;
use crate::schedule;
use crate::upkeep;

/// How often done jobs are swept and the queue is counted.
const SWEEP_EVERY: Duration = Duration::from_secs(15);

/// How a runner works. The binary fills it from its configuration.
#[derive(Clone, Debug)]
pub struct JobRunnerOptions {
    /// Jobs at once, without those of kinds that take no worker.
    pub workers: usize,
    /// How often to look without being woken.
    pub poll: Duration,
    /// How long a job stays ours without renewal; renewed three times in that time.
    pub lease: Duration,
    /// How long done jobs are kept to be looked at.
    pub keep_done: Duration,
    /// How long running jobs may go on when the process stops.
    pub grace: Duration,
}

impl Default for JobRunnerOptions {
    fn default() -> Self {
        Self {
            workers: 8,
            poll: Duration::from_secs(1),
            lease: Duration::from_secs(60),
            keep_done: Duration::from_secs(24 * 3600),
            grace: Duration::from_secs(20),
        }
    }
}

/// One process's share of the work.
pub struct JobRunner {
    db: Db,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    ids: IdGenerator,
    registry: JobRegistry,
    options: JobRunnerOptions,
    wake: Arc<Notify>,
    /// This runner among all, for its leases.
    worker: String,
    /// Jobs running here, with what tells them to leave off.
    running: RunningJobs,
    tasks: TaskTracker,
    turns: Mutex<ClaimRotation>,
    /// When the queue was last looked at with success, in microseconds; 0 before the first time.
    last_look: AtomicI64,
    /// Whether the stored schedules of tenants are those that this process knows.
    has_replaced_schedules: AtomicBool,
}

impl JobRunner {
    pub fn new(
        db: Db,
        queue: &JobQueue,
        random: Arc<dyn Random>,
        registry: JobRegistry,
        options: JobRunnerOptions,
    ) -> Self {
        let (clock, ids) = queue.clock_and_ids();
        let worker = ids.next::<LeaseId>().to_string();
        Self {
            db,
            clock,
            random,
            ids,
            registry,
            options,
            wake: queue.wake_signal(),
            worker,
            running: RunningJobs::default(),
            tasks: TaskTracker::new(),
            turns: Mutex::default(),
            last_look: AtomicI64::new(0),
            has_replaced_schedules: AtomicBool::new(false),
        }
    }

    /// When the queue was last looked at and answered: readiness asks, since a runner whose looks all fail still runs.
    pub fn last_poll(&self) -> Option<Timestamp> {
        let micros = self.last_look.load(Ordering::Acquire);
        (micros > 0).then(|| Timestamp::from_micros(micros))
    }

    /// Runs until `stop` is cancelled, then lets running jobs finish within the grace and puts the rest back.
    pub async fn run(&self, stop: CancellationToken) {
        let work = async {
            self.run_loop(&stop).await;
            self.stop().await;
        };
        // Renewing waits for nothing else, and goes on while the last jobs finish.
        tokio::select! {
            () = self.keep_leases() => {}
            () = work => {}
        }
    }

    async fn run_loop(&self, stop: &CancellationToken) {
        let (mut look, mut slow) = (ticks(self.options.poll), ticks(SWEEP_EVERY));
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.wake.notified() => {}
                _ = look.tick() => self.report(self.poll().await, "queue upkeep"),
                _ = slow.tick() => self.report(self.sweep().await, "upkeep of schedules and finished jobs"),
            }
            let claimed = self.claim().await.map(|jobs| jobs.into_iter().for_each(|job| self.start(job)));
            self.report(claimed, "job claim");
        }
    }

    async fn keep_leases(&self) {
        let mut renewal = ticks(self.options.lease / 3);
        loop {
            renewal.tick().await;
            self.report(self.renew().await, "lease renewal");
        }
    }

    /// Does everything that is due now and waits for it to end: what tests use instead of waiting.
    pub async fn drain(&self) -> Result<usize> {
        let mut done = 0;
        self.sync_tenant_schedules().await?;
        loop {
            let more = self.maintain().await?;
            let jobs = self.claim().await?;
            if jobs.is_empty() && !more {
                return Ok(done);
            }
            done += jobs.len();
            jobs.into_iter().for_each(|job| self.start(job));
            self.tasks.close();
            self.tasks.wait().await;
            self.tasks.reopen();
        }
    }

    fn report(&self, outcome: Result<()>, doing: &str) {
        if let Err(error) = outcome {
            tracing::warn!(%error, "{doing} failed; retrying");
        }
    }

    /// Looks after the queue until there is nothing left to look after, claiming in between.
    async fn poll(&self) -> Result<()> {
        while self.maintain().await? {
            self.claim().await?.into_iter().for_each(|job| self.start(job));
        }
        self.last_look.store(self.clock.now().as_micros(), Ordering::Release);
        Ok(())
    }

    /// One step of upkeep; true when there is more than one step of it. Our own leases are renewed first, so that
    /// after a clock's jump or an outage we do not take our own live jobs for abandoned.
    async fn maintain(&self) -> Result<bool> {
        let (now, ids, leases) = (self.clock.now(), self.ids.clone(), self.running.leases());
        let until = now.plus(self.options.lease);
        let unit = move |tx: &mut PlatformTx<'_>| {
            let lost = lease::renew(tx, &leases, until)?;
            let back = upkeep::reclaim(tx, now)?;
            if back > 0 {
                tracing::warn!(jobs = back, "requeued jobs with an expired lease");
            }
            let promoted = upkeep::promote(tx, now)?;
            let fired = schedule::fire(tx, &ids, now)?;
            let more = back == upkeep::STEP || promoted == upkeep::STEP || fired == schedule::LARGEST_FIRING;
            Ok::<_, Error>((lost, more))
        };
        let (lost, more) = self.db.platform(JOBS).write(unit).await?;
        self.running.cancel(&lost);
        Ok(more)
    }

    /// Gives every tenant the schedules that this process knows. What changed with a new version is replaced once, when it
    /// starts, so that two versions side by side do not undo each other's.
    async fn sync_tenant_schedules(&self) -> Result<()> {
        let schedules: Arc<[_]> = self.registry.tenant_schedules().into();
        let (now, platform) = (self.clock.now(), self.db.platform(JOBS));
        if !self.has_replaced_schedules.load(Ordering::Acquire) {
            let known = schedules.clone();
            platform.write(move |tx| schedule::replace_changed(tx, &known)).await?;
            self.has_replaced_schedules.store(true, Ordering::Release);
        }
        if schedules.is_empty() {
            return Ok(());
        }
        loop {
            let known = schedules.clone();
            if !platform.write(move |tx| schedule::add_missing(tx, &known, now)).await? {
                return Ok(());
            }
        }
    }

    async fn sweep(&self) -> Result<()> {
        // What is wrong with one schedule keeps nobody from sweeping.
        self.report(self.sync_tenant_schedules().await, "giving tenants their schedules");
        let now = self.clock.now();
        let before = now.minus(self.options.keep_done);
        let platform = self.db.platform(JOBS);
        while platform.write(move |tx| upkeep::sweep(tx, before)).await? == upkeep::STEP {}
        platform.write(move |tx| schedule::reset_future_schedules(tx, now)).await?;
        meter::record_depth(platform.read(upkeep::load_queue_depth).await?);
        Ok(())
    }

    /// Extends the leases of what runs here, and tells what is no longer ours to leave off.
    async fn renew(&self) -> Result<()> {
        let leases = self.running.leases();
        if leases.is_empty() {
            return Ok(());
        }
        let until = self.clock.now().plus(self.options.lease);
        let lost = self.db.platform(JOBS).write(move |tx| lease::renew(tx, &leases, until)).await?;
        self.running.cancel(&lost);
        Ok(())
    }

    async fn claim(&self) -> Result<Vec<Job>> {
        let Some(wanted) = self.build_claim_request() else { return Ok(Vec::new()) };
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let unit = move |tx: &mut PlatformTx<'_>| claim(tx, &wanted, &mut turns).map(|jobs| (jobs, turns));
        let (jobs, turns) = self.db.platform(JOBS).write(unit).await?;
        *self.turns.lock().unwrap_or_else(PoisonError::into_inner) = turns;
        Ok(jobs)
    }

    /// What there is room for here; nothing when all workers are busy, and so is what runs beside them.
    fn build_claim_request(&self) -> Option<ClaimRequest> {
        let (busy, total) = self.running.counts();
        let busy = |kind: &str| busy.get(kind).copied().unwrap_or(0);
        let beside = self.registry.iter().filter(|(_, entry)| entry.is_beside);
        let without_worker: usize = beside.map(|(kind, _)| busy(kind)).sum();
        let slots = self.options.workers.saturating_sub(total.saturating_sub(without_worker));
        let with_room = |is_beside: bool| {
            let entries = self.registry.iter().filter(move |(_, entry)| entry.is_beside == is_beside);
            let free = entries.map(|(kind, entry)| (kind, entry, entry.limit.saturating_sub(busy(kind))));
            free.filter(|(_, _, room)| *room > 0)
        };
        let kinds: Vec<(String, usize)> = match slots {
            0 => Vec::new(),
            slots => with_room(false).map(|(kind, _, room)| (kind.to_owned(), room.min(slots))).collect(),
        };
        let beside = with_room(true).map(|(kind, entry, room)| BesideRoom {
            kind: kind.to_owned(),
            room,
            tenant_share: entry.tenant_share,
            busy: self.running.counts_of_tenants(kind),
        });
        let beside: Vec<BesideRoom> = beside.collect();
        if kinds.is_empty() && beside.is_empty() {
            return None;
        }
        let until = self.clock.now().plus(self.options.lease);
        let (worker, lease) = (self.worker.clone(), self.ids.next());
        Some(ClaimRequest { kinds, slots, beside, worker, lease, until })
    }

    fn start(&self, job: Job) {
        let Some(entry) = self.registry.get(&job.kind).cloned() else { return };
        self.running.add(&job);
        let context = JobTaskContext {
            db: self.db.clone(),
            clock: self.clock.clone(),
            random: self.random.clone(),
            entry,
            running: self.running.clone(),
            wake: self.wake.clone(),
        };
        self.tasks.spawn(job_task::run(job, context));
    }

    async fn stop(&self) {
        self.tasks.close();
        let finished = tokio::time::timeout(self.options.grace, self.tasks.wait()).await;
        if finished.is_ok() {
            return;
        }
        self.running.cancel(&self.running.leases());
        // Told to leave off, most do at once; the rest lose their lease, so what they write later does not count.
        let _late = tokio::time::timeout(Duration::from_secs(1), self.tasks.wait()).await;
        let worker = self.worker.clone();
        match self.db.platform(JOBS).write(move |tx| lease::release(tx, &worker)).await {
            Ok(jobs) => tracing::info!(jobs, "requeued unfinished jobs"),
            Err(error) => {
                tracing::warn!(%error, "failed to requeue unfinished jobs; they run again when their lease expires");
            }
        }
    }
}

/// Beats that don't catch up with what was missed.
fn ticks(pause: Duration) -> tokio::time::Interval {
    let mut interval = tokio::time::interval(pause);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    interval
}
