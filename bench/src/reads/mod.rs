//! Point reads on SQLite: the store beside bare connections, with and without the way to another thread.

mod bare_pool;
mod bare_threads;
mod ours;

use anyhow::{Context, Result};
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::{self, RATE};
use crate::fresh_database::Fresh;
use crate::load::Load;
use crate::report::{Table, render_count, render_ratio};
use bare_pool::BarePool;
use bare_threads::BareThreads;
use ours::Ours;

const READERS: [usize; 2] = [1, 16];

/// Enough rows that a lookup walks a tree, few enough to stay in memory: the layer is measured, not the disk.
const ROWS: u64 = 20_000;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let runtime = Runtime::new()?;
    let mut fresh = Fresh::make(DatabaseEngine::Sqlite, &runtime);
    fresh.fill(&runtime, ROWS)?;
    let db = fresh.take_db().context("the database is open already")?;
    let ours = Ours::new(db, fresh.tenant);
    let pool = BarePool::new(&fresh)?;
    let threads = BareThreads::new(&fresh);
    let mut table =
        Table::new(["readers", "ours/s", "bare pool/s", "ratio", "bare, no hand-over/s", "ratio"]);
    for callers in arguments.callers(&READERS) {
        let load = Load { runtime: &runtime, callers, window: arguments.window };
        let [ours, pool, threads] = contest::run_rounds([&ours, &pool, &threads], &load, arguments.rounds)?;
        table.add_row([
            callers.to_string(),
            render_count(ours.median(RATE)),
            render_count(pool.median(RATE)),
            render_ratio(ours.ratio(&pool, RATE), None),
            render_count(threads.median(RATE)),
            render_ratio(ours.ratio(&threads, RATE), None),
        ]);
    }
    table.print("Point reads on SQLite");
    Ok(())
}

/// Visits the rows in an order that does not follow their place on disk.
fn scatter(step: u64) -> u64 {
    step.wrapping_mul(7_919) % ROWS
}
