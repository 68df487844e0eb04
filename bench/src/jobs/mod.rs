//! The queue on both engines: jobs put in and jobs claimed, run and finished, for one tenant and for many.

mod backlog;
mod worked;

use anyhow::Result;
use munshi_jobs::{JobQueue, NewJob};
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use crate::again;
use crate::arguments::Arguments;
use crate::contest::middle;
use crate::load::{Load, Tally};
use crate::report::{Table, count};
use backlog::Backlog;

const TENANTS: [usize; 2] = [1, 1000];
const ENQUEUERS: usize = 64;
const WORKERS: [usize; 2] = [8, 64];

/// The one kind of job there is here; its handler does nothing.
const KIND: &str = "bench";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !again::has_postgres() {
        return again::beside_postgres("jobs", arguments);
    }
    let runtime = Runtime::new()?;
    let mut table = Table::new(["", "enqueued/s, 64 callers", "done/s, 8 workers", "done/s, 64 workers"]);
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        for tenants in TENANTS {
            let backlog = Backlog::make(engine, tenants, &runtime)?;
            let enqueued = enqueue(&backlog, arguments, &runtime)?;
            let [few, many] = WORKERS.map(|workers| work(&backlog, workers, arguments, &runtime));
            let name = if tenants == 1 { "1 tenant".to_owned() } else { format!("{tenants} tenants") };
            let name = format!("{engine:?}, {name}");
            table.row([name, count(enqueued), count(few?), count(many?)]);
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
        load.tasks(move || {
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
    Ok(middle(rates))
}

fn work(backlog: &Backlog, workers: usize, arguments: &Arguments, runtime: &Runtime) -> Result<f64> {
    let mut rates = Vec::new();
    for _ in 0..arguments.rounds.max(1) {
        backlog.fill(runtime)?;
        rates.push(worked::rate(backlog, workers, arguments.window, runtime));
    }
    Ok(middle(rates))
}

/// The clock and the ids of a running installation.
fn queue() -> JobQueue {
    JobQueue::new(std::sync::Arc::new(munshi_types::SystemClock), munshi_types::IdGenerator::system())
}
