//! The queue on both engines: jobs put in and jobs claimed, run and finished, for one tenant and for many.

mod backlog;
mod runner;

use anyhow::Result;
use munshi_jobs::{JobQueue, NewJob};
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::median_of;
use crate::load::{Load, Tally};
use crate::report::{Table, render_count};
use crate::rerun;
use backlog::Backlog;

const TENANTS: [usize; 4] = [1, 10, 100, 1000];
const ENQUEUERS: usize = 64;
const WORKERS: [usize; 2] = [8, 64];

/// The one kind of job there is here; its handler does nothing.
const KIND: &str = "bench";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !rerun::has_postgres() {
        return rerun::run_with_postgres("jobs", arguments);
    }
    let runtime = Runtime::new()?;
    let mut table = Table::new(["", "enqueued/s, 64 callers", "done/s, 8 workers", "done/s, 64 workers"]);
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        for tenants in TENANTS {
            let backlog = Backlog::make(engine, tenants, &runtime)?;
            let enqueued = enqueue(&backlog, arguments, &runtime)?;
            let [few, many] = WORKERS.map(|workers| measure_work(&backlog, workers, arguments, &runtime));
            let name = if tenants == 1 { "1 tenant".to_owned() } else { format!("{tenants} tenants") };
            let name = format!("{engine:?}, {name}");
            table.add_row([name, render_count(enqueued), render_count(few?), render_count(many?)]);
        }
    }
    table.print(
        "Jobs: put in one by one, each in its own transaction; claimed, run and finished by one runner",
    );
    Ok(())
}

fn enqueue(backlog: &Backlog, arguments: &Arguments, runtime: &Runtime) -> Result<f64> {
    let load = Load { runtime, callers: ENQUEUERS, window: arguments.window };
    let (db, queue) = (backlog.test.db.clone(), backlog.queue.clone());
    let once = || -> Result<Tally> {
        let (db, queue, turns) = (db.clone(), queue.clone(), backlog.turns());
        load.run_tasks(move || {
            let (db, queue, tenant) = (db.clone(), queue.clone(), turns.next());
            async move {
                let job = NewJob::new(KIND, &"a small payload")?;
                db.write(tenant, move |tx| queue.enqueue(tx, &job)).await?;
                Ok(())
            }
        })
    };
    once()?;
    let rates = (0..arguments.rounds.max(1)).map(|_| Ok(once()?.per_second)).collect::<Result<Vec<_>>>()?;
    Ok(median_of(rates))
}

fn measure_work(backlog: &Backlog, workers: usize, arguments: &Arguments, runtime: &Runtime) -> Result<f64> {
    let mut rates = Vec::new();
    for _ in 0..arguments.rounds.max(1) {
        backlog.fill(runtime)?;
        rates.push(runner::measure_rate(backlog, workers, arguments.window, runtime));
    }
    Ok(median_of(rates))
}

/// The clock and the ids of a running installation.
fn queue() -> JobQueue {
    JobQueue::new(std::sync::Arc::new(munshi_types::SystemClock), munshi_types::IdGenerator::system())
}
