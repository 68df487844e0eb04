//! Many callers at once, for a while: how many finished, and how long each took.

use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::process::{OWN, processor_time};

/// What a contestant is put under.
pub(crate) struct Load<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) callers: usize,
    pub(crate) window: Duration,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) per_second: f64,
    pub(crate) median_us: f64,
    pub(crate) p99_us: f64,
    /// Processor time of the whole process that acts, for each act: steadier than the clock on a machine that is shared.
    pub(crate) cpu_us: f64,
}

impl Load<'_> {
    /// Callers as the product has them: tasks that wait for an answer, then ask again.
    pub(crate) fn run_tasks<F, A>(&self, act: F) -> Result<Tally>
    where
        F: Fn() -> A + Clone + Send + 'static,
        A: Future<Output = Result<()>> + Send,
    {
        let spent = processor_time(OWN)?;
        self.runtime.block_on(async {
            let (began, window) = (Instant::now(), self.window);
            let mut callers = JoinSet::new();
            for _ in 0..self.callers {
                let act = act.clone();
                callers.spawn(async move {
                    let mut times = Vec::new();
                    while began.elapsed() < window {
                        let asked = Instant::now();
                        act().await?;
                        times.push(asked.elapsed());
                    }
                    anyhow::Ok(times)
                });
            }
            let times = callers.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
            Ok(Tally::from_times(times.concat(), began.elapsed(), processor_time(OWN)? - spent))
        })
    }

    /// Callers as plain threads, for what needs no runtime. Each makes what it needs before the clock starts.
    pub(crate) fn run_threads<F, A>(&self, make: F) -> Result<Tally>
    where
        F: Fn() -> Result<A> + Clone + Send + 'static,
        A: FnMut() -> Result<()>,
    {
        let (ready, window) = (Arc::new(Barrier::new(self.callers + 1)), self.window);
        let start = |_| {
            let (make, ready) = (make.clone(), ready.clone());
            std::thread::spawn(move || {
                let made = make();
                ready.wait();
                repeat(made?, window)
            })
        };
        let threads: Vec<_> = (0..self.callers).map(start).collect();
        let spent = processor_time(OWN)?;
        ready.wait();
        let began = Instant::now();
        let mut times = Vec::new();
        for thread in threads {
            times.extend(thread.join().map_err(|_| anyhow!("a caller panicked"))??);
        }
        Ok(Tally::from_times(times, began.elapsed(), processor_time(OWN)? - spent))
    }
}

fn repeat(mut act: impl FnMut() -> Result<()>, window: Duration) -> Result<Vec<Duration>> {
    let (began, mut times) = (Instant::now(), Vec::new());
    while began.elapsed() < window {
        let asked = Instant::now();
        act()?;
        times.push(asked.elapsed());
    }
    Ok(times)
}

impl Tally {
    /// `spent` is the processor time of whoever did the work.
    pub(crate) fn from_times(mut times: Vec<Duration>, took: Duration, spent: Duration) -> Self {
        times.sort_unstable();
        let at =
            |part: usize| times.get(times.len() * part / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6);
        Self {
            per_second: times.len() as f64 / took.as_secs_f64(),
            median_us: at(50),
            p99_us: at(99),
            cpu_us: spent.as_secs_f64() * 1_000_000.0 / times.len().max(1) as f64,
        }
    }
}
