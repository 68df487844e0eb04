//! What the store, the queue, the gateway and the binary cost, each beside the plainest thing that does the same.
//!
//! `cargo run --release -p munshi-bench -- all`, or one of `store`, `reads`, `tenancy`, `jobs`, `gateway`,
//! `tiers`, `audit`, `budget`, `acts`, `turn`, `runs`, `streams`, `live`, `webhooks`, `select`, `host`, `start`, `shops`, `search`, `keys` in its
//! place; `all` leaves `live` and the last two out.
//! `docs/benchmarks.md` says what each compares and what was measured.
//!
//! Nothing here passes or fails a build: a machine's mood is not a defect. The tables say `pass` or `short` beside
//! each goal, and people decide.
//!
//! # Layout
//! - [`arguments`]: what to run and for how long; [`rerun`]: running this program once more in another environment
//! - [`load`]: many callers at once; [`contest`]: rounds, medians and ratios; [`report`]: tables and goals
//! - [`fresh_database`]: a database to work on; [`sqlite`]: a bare connection to it; [`sealed_database`]: one with a real store
//!   of keys; [`planted_thread`]: conversations in it
//! - [`server`]: the product's own binary; [`process`]: what a process has used
//! - `store`, `reads`, `tenancy`, `jobs`, `gateway`, `tiers`, `audit`, `budget`, `acts`, `turn`, `runs`, `streams`, `live`, `select`, `host`,
//!   `start`, `shops`, `search`, `keys`: one benchmark each, contestants beside it
//!
//! # To add a benchmark
//! Write its module with a `run`, its contestants as [`contest::Contestant`]s, and name it in [`arguments::Subject`].
#![allow(clippy::print_stdout, reason = "a report is what this program is for")]

mod acts;
mod arguments;
mod audit;
mod budget;
mod contest;
mod fresh_database;
mod gateway;
mod host;
mod jobs;
mod keys;
mod live;
mod load;
mod planted_thread;
mod process;
mod reads;
mod report;
mod rerun;
mod runs;
mod sealed_database;
mod search;
mod select;
mod server;
mod shops;
mod sqlite;
mod start;
mod store;
mod streams;
mod tenancy;
mod tiers;
mod turn;
mod webhooks;

use arguments::{Arguments, Subject};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // This program's own children.
        ["model-server"] => return gateway::serve(),
        ["open-streams", address] => return gateway::hold_open(address),
        [keys::CHILD, database, keys, master, tenant, persons] => {
            return keys::measure_restarted([database, keys, master, tenant, persons]);
        }
        _ => {}
    }
    let arguments = Arguments::parse(words.into_iter())?;
    for subject in &arguments.subjects {
        match subject {
            Subject::Store => store::run(&arguments)?,
            Subject::Reads => reads::run(&arguments)?,
            Subject::Tenancy => tenancy::run(&arguments)?,
            Subject::Jobs => jobs::run(&arguments)?,
            Subject::Gateway => gateway::run(&arguments)?,
            Subject::Tiers => tiers::run(&arguments)?,
            Subject::Audit => audit::run(&arguments)?,
            Subject::Budget => budget::run(&arguments)?,
            Subject::Acts => acts::run(&arguments)?,
            Subject::Turn => turn::run(&arguments)?,
            Subject::Runs => runs::run(&arguments)?,
            Subject::Streams => streams::run()?,
            Subject::Live => live::run()?,
            Subject::Webhooks => webhooks::run(&arguments)?,
            Subject::Select => select::run(&arguments)?,
            Subject::Host => host::run(&arguments)?,
            Subject::Start => start::run(&arguments)?,
            Subject::Shops => shops::run(&arguments)?,
            Subject::Search => search::run(&arguments)?,
            Subject::Keys => keys::run(&arguments)?,
        }
    }
    Ok(())
}
