//! Shops at work: sixteen of them, each sending two messages a second to the offline model; and the books of a shop with a
//! million entries, read and proved.
//!
//! `--window` is how long the shops write, `--callers` how many they are, `--entries` how many the large books have.

mod books;
mod counter;
mod rows;

use anyhow::Result;
use munshi_test_support::DatabaseEngine;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::report::{Goal, Table, render_count, render_verdict};
use crate::rerun;

const SHOPS: usize = 16;
/// Milliseconds.
const TURN_GOAL: f64 = 20.0;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !rerun::has_postgres() {
        return rerun::run_with_postgres("shops", arguments);
    }
    let runtime = Runtime::new()?;
    let mut table =
        Table::new(["database", "shops", "messages", "median ms", "p99 ms", "longest ms", "p99 to the goal"]);
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        for shops in arguments.callers(&[SHOPS]) {
            let mut took = counter::measure(engine, &runtime, shops, arguments.window)?;
            took.sort_unstable();
            let [median, p99, longest] = [50, 99, 100].map(|part| millis(&took, part));
            table.add_row([
                format!("{engine:?}"),
                shops.to_string(),
                count_of(took.len()),
                format!("{median:.1}"),
                format!("{p99:.1}"),
                format!("{longest:.1}"),
                render_verdict(p99, Goal::AtMost(TURN_GOAL), 0),
            ]);
        }
    }
    table.print("Shops with the offline model: message in, entry durable, reply out");
    let mut table = Table::new(["database", "entries", "what", "median ms", "p99 ms", "to the goal"]);
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        for row in books::measure(engine, &runtime, arguments.entries)? {
            let mut took = row.took;
            took.sort_unstable();
            let [median, p99] = [50, 99].map(|part| millis(&took, part));
            table.add_row([
                format!("{engine:?}"),
                count_of(arguments.entries),
                row.what.to_owned(),
                format!("{median:.2}"),
                format!("{p99:.2}"),
                row.goal.map_or_else(String::new, |goal| render_verdict(p99, Goal::AtMost(goal), 0)),
            ]);
        }
    }
    table.print("Books with many entries: kept figures, and all of them worked out again");
    Ok(())
}

/// The time in milliseconds that so many of a hundred did not take longer than; they are sorted.
fn millis(took: &[u128], part: usize) -> f64 {
    let at = (took.len() * part).div_ceil(100).saturating_sub(1);
    let micros = took.get(at).copied().unwrap_or(0);
    // Well below what a float holds exactly.
    u32::try_from(micros).map_or(f64::INFINITY, |micros| f64::from(micros) / 1_000.0)
}

fn count_of(number: usize) -> String {
    u32::try_from(number).map_or_else(|_| number.to_string(), |number| render_count(f64::from(number)))
}
