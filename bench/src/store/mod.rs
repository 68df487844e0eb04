//! Durable inserts on SQLite: the store beside one commit for each row, and beside a bare group commit.

mod bare_group;
mod one_each;
mod ours;

use anyhow::Result;
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Disk};
use crate::contest::{self, CPU, RATE};
use crate::fresh_database::Fresh;
use crate::load::Load;
use crate::report::{Goal, Table, render_count, render_ratio};
use crate::rerun;
use bare_group::BareGroup;
use one_each::OneEach;
pub(crate) use ours::Ours;

const WRITERS: [usize; 4] = [1, 16, 64, 256];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match arguments.disk {
        Some(disk) => compare(arguments, disk),
        None => {
            rerun::run_on_slow_disk(arguments)?;
            compare(arguments, Disk::AsIs)
        }
    }
}

fn compare(arguments: &Arguments, disk: Disk) -> Result<()> {
    let runtime = Runtime::new()?;
    let mut table = Table::new([
        "writers",
        "ours/s",
        "one commit each/s",
        "ratio",
        "bare group commit/s",
        "ratio",
        "CPU µs each, theirs",
        "ours",
    ]);
    for callers in arguments.callers(&WRITERS) {
        let load = Load { runtime: &runtime, callers, window: arguments.window };
        let ours = Ours::new(Fresh::make(DatabaseEngine::Sqlite, &runtime))?;
        let one_each = OneEach::new(Fresh::make(DatabaseEngine::Sqlite, &runtime))?;
        let bare = BareGroup::new(Fresh::make(DatabaseEngine::Sqlite, &runtime))?;
        let [ours, one_each, bare] = contest::run_rounds([&ours, &one_each, &bare], &load, arguments.rounds)?;
        table.add_row([
            callers.to_string(),
            render_count(ours.median(RATE)),
            render_count(one_each.median(RATE)),
            render_ratio(ours.ratio(&one_each, RATE), goal_over_one_each(callers, disk)),
            render_count(bare.median(RATE)),
            render_ratio(ours.ratio(&bare, RATE), Some(Goal::AtLeast(0.7))),
            format!("{:.1}", bare.median(CPU)),
            format!("{:.1}", ours.median(CPU)),
        ]);
    }
    table.print(match disk {
        Disk::Slow => "Durable inserts on SQLite, fsync takes 2 ms",
        Disk::AsIs => "Durable inserts on SQLite, this disk as it is",
    });
    Ok(())
}

/// The goals are for an ordinary disk; what a very fast one leaves to gain is for information.
fn goal_over_one_each(callers: usize, disk: Disk) -> Option<Goal> {
    match (disk, callers) {
        (Disk::Slow, 1) => Some(Goal::AtLeast(0.85)),
        (Disk::Slow, 64..) => Some(Goal::AtLeast(5.0)),
        _ => None,
    }
}
