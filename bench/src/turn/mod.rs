//! A durable turn with everything on, against a model server on loopback: beside the bare cost of its statements through
//! the same store, and beside the `LiteLLM` proxy only passing the same request through where `scripts/litellm.sh run`
//! has started one. Given two binaries, turns of both instead, over the API.

mod bare;
mod builds;
mod ours;
mod served_build;
mod shop;

use anyhow::Result;
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::{self, CPU, Contestant, P99, RATE, Series, TIME};
use crate::gateway::{Form, Mock, Passing, litellm_address};
use crate::load::Load;
use crate::report::{Goal, Table, render_count, render_ratio, render_verdict};
use crate::rerun;
use bare::Bare;
pub(crate) use ours::{Limits, Ours};
pub(crate) use shop::Shop;

/// People who write at once.
const CALLERS: [usize; 4] = [1, 16, 64, 256];
/// How many write at once before anything is measured.
const WARM: usize = 16;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if rerun::lacks_postgres(arguments) {
        return rerun::run_with_postgres("turn", arguments);
    }
    let runtime = Runtime::new()?;
    if let Some(compared) = &arguments.builds {
        return builds::run(compared, arguments, &runtime);
    }
    let mock = Mock::start()?;
    for engine in arguments.engines() {
        compare(engine, arguments, &runtime, &mock)?;
    }
    Ok(())
}

fn compare(engine: DatabaseEngine, arguments: &Arguments, runtime: &Runtime, mock: &Mock) -> Result<()> {
    let shop = Shop::open_blocking(engine, runtime, &mock.address)?;
    let (ours, unlimited) = (Ours::new(&shop, Limits::Counted), Ours::new(&shop, Limits::None));
    // Everybody has written once today, as most who write have.
    runtime.block_on(ours.warm_up(WARM))?;
    shop.analyze_tables();
    let bare = Bare::new(&shop, runtime, &ours)?;
    let peer = litellm_address().map(|address| Passing::new(&address, Form::Whole)).transpose()?;
    let mut table =
        Table::new(["people", "who", "turns/s", "median µs", "p99 µs", "processor µs", "to the turn"]);
    for callers in arguments.callers(&CALLERS) {
        let load = Load { runtime, callers, window: arguments.window };
        let all: [&dyn Contestant; 3] = [&ours, &unlimited, &bare];
        let ([ours, unlimited, bare], peer) = match &peer {
            Some(peer) => {
                let [ours, unlimited, bare, peer] =
                    contest::run_rounds([all[0], all[1], all[2], peer], &load, arguments.rounds)?;
                ([ours, unlimited, bare], Some(peer))
            }
            None => (contest::run_rounds(all, &load, arguments.rounds)?, None),
        };
        row(&mut table, callers, "turn", &ours, String::new());
        row(&mut table, callers, "without limits", &unlimited, limits_cost(&ours, &unlimited));
        let times = render_ratio(ours.ratio(&bare, TIME), Some(Goal::AtMost(1.5)));
        row(&mut table, callers, "its statements", &bare, format!("{times} of the time"));
        if let Some(peer) = &peer {
            row(&mut table, callers, "LiteLLM proxy", peer, render_comparison(engine, &ours, peer));
        }
    }
    table.print(&format!("A turn on {engine:?}"));
    Ok(())
}

/// What counting a message for its limits costs a turn, in time and on the processor.
fn limits_cost(ours: &Series, unlimited: &Series) -> String {
    let (time, cpu) = (ours.ratio(unlimited, TIME), ours.ratio(unlimited, CPU));
    format!("{} of the time, {cpu:.3}x the processor", render_ratio(time, Some(Goal::AtMost(1.02))))
}

/// How often the proxy's throughput, and which part of its p99.
fn render_comparison(engine: DatabaseEngine, ours: &Series, peer: &Series) -> String {
    let goal = if engine == DatabaseEngine::Sqlite { 15.0 } else { 8.0 };
    let (rate, p99) = (ours.ratio(peer, RATE), ours.ratio(peer, P99));
    format!(
        "{} as many, p99 {p99:.3}x ({})",
        render_ratio(rate, Some(Goal::AtLeast(goal))),
        render_verdict(p99, Goal::AtMost(0.1), 1)
    )
}

fn row(table: &mut Table<7>, callers: usize, who: &str, series: &Series, beside: String) {
    table.add_row([
        callers.to_string(),
        who.to_owned(),
        render_count(series.median(RATE)),
        render_count(series.median(TIME)),
        render_count(series.median(P99)),
        render_count(series.median(CPU)),
        beside,
    ]);
}
