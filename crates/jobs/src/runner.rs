//! The loop that claims jobs and runs them, until told to stop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use munshi_store::Db;
use munshi_types::{Clock, Ids, LeaseId, Random};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::JOBS;
use crate::claim::{Circles, Wanted, claim};
use crate::error::Result;
use crate::job::Job;
use crate::lease;
use crate::meter;
use crate::queue::Queue;
use crate::registry::Registry;
use crate::run::{self, Context};
use crate::running::Running;
use crate::schedule;
use crate::upkeep;

/// How a runner works. The binary fills it from its configuration.
#[derive(Clone, Debug)]
pub struct Options {
    /// Jobs at once.
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

impl Default for Options {
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
pub struct Runner {
    db: Db,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    ids: Ids,
    registry: Registry,
    options: Options,
    wake: Arc<Notify>,
    /// This runner among all, for its leases.
    worker: String,
    /// Jobs running here, with what tells them to leave off.
    running: Running,
    tasks: TaskTracker,
    circles: Mutex<Circles>,
}

impl Runner {
    pub fn new(db: Db, queue: &Queue, random: Arc<dyn Random>, registry: Registry, options: Options) -> Self {
        let (clock, ids) = queue.sources();
        let worker = ids.next::<LeaseId>().to_string();
        Self {
            db,
            clock,
            random,
            ids,
            registry,
            options,
            wake: queue.wake(),
            worker,
            running: Running::default(),
            tasks: TaskTracker::new(),
            circles: Mutex::default(),
        }
    }

    /// Runs until `stop` is cancelled, then lets running jobs finish within the grace and puts the rest back.
    pub async fn run(&self, stop: CancellationToken) {
        let mut since_upkeep = tokio::time::interval(self.options.poll);
        let mut renewal = tokio::time::interval(self.options.lease / 3);
        let mut slow = tokio::time::interval(Duration::from_secs(15));
        for interval in [&mut since_upkeep, &mut renewal, &mut slow] {
            interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        }
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.wake.notified() => {}
                _ = since_upkeep.tick() => self.report(self.upkeep().await, "looking after the queue"),
                _ = renewal.tick() => self.report(self.renew().await, "renewing leases"),
                _ = slow.tick() => self.report(self.sweep().await, "sweeping done jobs"),
            }
            let claimed = self.claim().await.map(|jobs| jobs.into_iter().for_each(|job| self.start(job)));
            self.report(claimed, "claiming jobs");
        }
        self.stop().await;
    }

    /// Does everything that is due now and waits for it to end: what tests use instead of waiting.
    pub async fn drain(&self) -> Result<usize> {
        let mut done = 0;
        loop {
            self.upkeep().await?;
            let jobs = self.claim().await?;
            if jobs.is_empty() {
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
            tracing::warn!(%error, "{doing} failed; trying again");
        }
    }

    async fn upkeep(&self) -> Result<()> {
        let (now, ids) = (self.clock.now(), self.ids.clone());
        self.db
            .platform(JOBS)
            .write(move |tx| {
                let back = upkeep::reclaim(tx, now)?;
                if back > 0 {
                    tracing::warn!(jobs = back, "took back jobs whose worker stopped");
                }
                upkeep::promote(tx, now)?;
                schedule::fire(tx, &ids, now).map(|_| ())
            })
            .await
    }

    async fn sweep(&self) -> Result<()> {
        let before = self.clock.now().minus(self.options.keep_done);
        self.db.platform(JOBS).write(move |tx| upkeep::sweep(tx, before)).await?;
        let depth = self.db.platform(JOBS).read(upkeep::depth).await?;
        meter::depth(depth);
        Ok(())
    }

    /// Extends the leases of what runs here, and tells what is no longer ours to leave off.
    async fn renew(&self) -> Result<()> {
        let before = self.running.leases();
        if before.is_empty() {
            return Ok(());
        }
        let (worker, until) = (self.worker.clone(), self.clock.now().plus(self.options.lease));
        let held = self.db.platform(JOBS).write(move |tx| lease::renew(tx, &worker, until)).await?;
        // Only what ran before the renewal can be judged by it.
        let lost: Vec<LeaseId> = before.into_iter().filter(|lease| !held.contains(lease)).collect();
        self.running.leave_off(&lost);
        Ok(())
    }

    async fn claim(&self) -> Result<Vec<Job>> {
        let Some(wanted) = self.wanted() else { return Ok(Vec::new()) };
        let mut circles = self.circles.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (jobs, circles) = self
            .db
            .platform(JOBS)
            .write(move |tx| claim(tx, &wanted, &mut circles).map(|jobs| (jobs, circles)))
            .await?;
        *self.circles.lock().unwrap_or_else(PoisonError::into_inner) = circles;
        Ok(jobs)
    }

    /// What there is room for here; nothing when all workers are busy.
    fn wanted(&self) -> Option<Wanted> {
        let (busy, total) = self.running.counts();
        let slots = self.options.workers.saturating_sub(total);
        let busy = |kind: &str| busy.get(kind).copied().unwrap_or(0);
        let kinds: Vec<(String, usize)> = self
            .registry
            .iter()
            .map(|(kind, entry)| (kind.to_owned(), entry.limit.saturating_sub(busy(kind)).min(slots)))
            .filter(|(_, free)| *free > 0)
            .collect();
        if kinds.is_empty() {
            return None;
        }
        let until = self.clock.now().plus(self.options.lease);
        Some(Wanted { kinds, slots, worker: self.worker.clone(), lease: self.ids.next(), until })
    }

    fn start(&self, job: Job) {
        let Some(entry) = self.registry.get(&job.kind).cloned() else { return };
        self.running.add(&job);
        let context = Context {
            db: self.db.clone(),
            clock: self.clock.clone(),
            random: self.random.clone(),
            entry,
            running: self.running.clone(),
            wake: self.wake.clone(),
        };
        self.tasks.spawn(run::one(job, context));
    }

    async fn stop(&self) {
        self.tasks.close();
        let finished = tokio::time::timeout(self.options.grace, self.tasks.wait()).await;
        if finished.is_ok() {
            return;
        }
        self.running.leave_off(&self.running.leases());
        // Told to leave off, most do at once; the rest lose their lease, so what they write later does not count.
        let _late = tokio::time::timeout(Duration::from_secs(1), self.tasks.wait()).await;
        let worker = self.worker.clone();
        match self.db.platform(JOBS).write(move |tx| lease::release(tx, &worker)).await {
            Ok(jobs) => tracing::info!(jobs, "put unfinished jobs back"),
            Err(error) => tracing::warn!(%error, "unfinished jobs wait for their lease to end"),
        }
    }
}
