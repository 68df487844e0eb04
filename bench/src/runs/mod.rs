//! People who wait for a slow model, and people beside work that nobody typed: whether the places hold, and whether those who
//! wait for an answer feel it.

mod background;

pub(crate) use background::{Stepping, build_tools};

use std::time::Duration;

use anyhow::Result;
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use self::background::BesideWork;
use crate::arguments::Arguments;
use crate::contest::{self, Contestant, P99, RATE, TIME};
use crate::gateway::{Mock, SLOW};
use crate::load::Load;
use crate::report::{Goal, Table, render_count, render_ratio};
use crate::rerun;
use crate::turn::{Limits, Ours, Shop};

/// People who write at once: to a slow model as many as there are places, beside other work a few.
const PLACES: usize = 256;
const FEW: usize = 16;
/// Runs that are begun at once.
const RUNS: usize = 500;
const WARM: usize = 16;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !rerun::has_postgres() {
        return rerun::run_with_postgres("runs", arguments);
    }
    let (runtime, mock) = (Runtime::new()?, Mock::start()?);
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let shop = Shop::open_blocking(engine, &runtime, &mock.address)?;
        let people = Ours::new(&shop, Limits::Counted);
        runtime.block_on(people.warm_up(WARM))?;
        shop.analyze_tables();
        compare_beside(engine, arguments, &runtime, &shop, &people)?;
        measure_slow(engine, &runtime, &shop)?;
    }
    Ok(())
}

/// People alone, and people while five hundred runs are worked on.
fn compare_beside(
    engine: DatabaseEngine,
    arguments: &Arguments,
    runtime: &Runtime,
    shop: &Shop,
    people: &Ours,
) -> Result<()> {
    let places = if engine == DatabaseEngine::Postgres { 16 } else { 8 };
    let work = BesideWork::new(shop, people, places);
    let load = Load { runtime, callers: FEW, window: arguments.window };
    let all: [&dyn Contestant; 2] = [people, &work];
    let [alone, beside] = contest::run_rounds(all, &load, arguments.rounds)?;
    let mut table = Table::new(["who", "turns/s", "median µs", "p99 µs", "to people alone"]);
    for (who, series) in [("people alone", &alone), ("beside 500 runs", &beside)] {
        let ratio = render_ratio(series.ratio(&alone, P99), Some(Goal::AtMost(1.5)));
        table.add_row([
            who.to_owned(),
            render_count(series.median(RATE)),
            render_count(series.median(TIME)),
            render_count(series.median(P99)),
            format!("{ratio} of the p99"),
        ]);
    }
    table.print(&format!("{FEW} people on {engine:?}, with {places} places for other work"));
    println!("most runs at once: {} of {places}", work.most_at_once());
    Ok(())
}

/// As many people as there are places, each of whom waits three seconds for the model.
fn measure_slow(engine: DatabaseEngine, runtime: &Runtime, shop: &Shop) -> Result<()> {
    let people = Ours::saying(shop, Limits::Counted, SLOW);
    let load = Load { runtime, callers: PLACES, window: Duration::from_secs(10) };
    let [slow] = contest::run_rounds([&people as &dyn Contestant], &load, 1)?;
    let mut table = Table::new(["people", "turns/s", "median µs", "p99 µs"]);
    table.add_row([
        PLACES.to_string(),
        render_count(slow.median(RATE)),
        render_count(slow.median(TIME)),
        render_count(slow.median(P99)),
    ]);
    table.print(&format!("A model that takes three seconds, on {engine:?}"));
    Ok(())
}
