//! A runner at work for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use munshi_jobs::{JobKind, JobRegistry, JobRunner, JobRunnerOptions};
use munshi_types::SystemRandom;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::KIND;
use super::backlog::Backlog;

/// Jobs claimed, run and finished in a second: each costs its share of a claim and a transaction to end it.
pub(crate) fn measure_rate(backlog: &Backlog, workers: usize, window: Duration, runtime: &Runtime) -> f64 {
    let done = Arc::new(AtomicU64::new(0));
    let (mut registry, counter) = (JobRegistry::default(), done.clone());
    registry.add(JobKind::new(KIND), move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        async { Ok(()) }
    });
    let options = JobRunnerOptions { workers, ..JobRunnerOptions::default() };
    let runner =
        JobRunner::new(backlog.test.db.clone(), &backlog.queue, Arc::new(SystemRandom), registry, options);
    let stop = CancellationToken::new();
    let began = Instant::now();
    runtime.block_on(async {
        tokio::join!(runner.run(stop.clone()), async {
            tokio::time::sleep(window).await;
            stop.cancel();
        })
    });
    done.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64()
}
