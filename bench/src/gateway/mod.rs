//! A call to a model server on loopback: through the gateway, with a bare HTTP client, and through the `LiteLLM` proxy
//! where `scripts/litellm.sh run` has started one.

mod bare;
mod mock;
mod ours;
mod streams;

use anyhow::Result;
use tokio::runtime::Runtime;

pub(crate) use bare::Bare as Passing;
pub(crate) use mock::{ENDLESS, Mock, SLOW, serve};
pub(crate) use ours::{connect, target};
pub(crate) use streams::hold_open;

use crate::arguments::Arguments;
use crate::contest::{self, P99, RATE, Series, TIME};
use crate::load::Load;
use crate::report::{Goal, Table, render_count, render_ratio, render_verdict};
use bare::Bare;
use mock::WORDS;
use ours::Ours;

const CALLERS: [usize; 2] = [1, 16];

/// Whether the answer comes whole or word by word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    Streamed,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (runtime, mock) = (Runtime::new()?, Mock::start()?);
    for form in [Form::Whole, Form::Streamed] {
        compare(arguments, &runtime, &mock, form)?;
    }
    streams::report(&mock)
}

fn compare(arguments: &Arguments, runtime: &Runtime, mock: &Mock, form: Form) -> Result<()> {
    let mut table = Table::new(["callers", "who", "calls/s", "to bare", "median µs", "p99 µs", "over bare"]);
    for callers in arguments.callers(&CALLERS) {
        let load = Load { runtime, callers, window: arguments.window };
        let (bare, ours) = (Bare::new(&mock.address, form)?, Ours::new(&mock.address, form)?);
        let peer = litellm_address().map(|address| Bare::new(&address, form)).transpose()?;
        let (bare, ours, peer) = match &peer {
            Some(peer) => {
                let [bare, ours, peer] = contest::run_rounds([&bare, &ours, peer], &load, arguments.rounds)?;
                (bare, ours, Some(peer))
            }
            None => {
                let [bare, ours] = contest::run_rounds([&bare, &ours], &load, arguments.rounds)?;
                (bare, ours, None)
            }
        };
        row(&mut table, callers, "bare client", &bare, &bare, form);
        row(&mut table, callers, "gateway", &ours, &bare, form);
        if let Some(peer) = &peer {
            row(&mut table, callers, "LiteLLM proxy", peer, &bare, form);
            let times = render_ratio(ours.ratio(peer, RATE), Some(Goal::AtLeast(30.0)));
            println!("gateway to LiteLLM with {callers} callers, {form:?}: {times}");
        }
    }
    table.print(match form {
        Form::Whole => "A whole answer",
        Form::Streamed => "An answer in 200 pieces",
    });
    Ok(())
}

fn row(table: &mut Table<7>, callers: usize, who: &str, series: &Series, bare: &Series, form: Form) {
    let over = series.median(P99) - bare.median(P99);
    let each = (series.median(TIME) - bare.median(TIME)) / WORDS as f64;
    let over = match (who, form) {
        ("bare client", _) => String::new(),
        ("gateway", Form::Whole) => {
            format!("p99 {over:.0} µs ({})", render_verdict(over / 1000.0, Goal::AtMost(1.0), 0))
        }
        (_, Form::Whole) => format!("p99 {over:.0} µs"),
        (_, Form::Streamed) => format!("{each:.2} µs a piece"),
    };
    table.add_row([
        callers.to_string(),
        who.to_owned(),
        render_count(series.median(RATE)),
        render_ratio(series.ratio(bare, RATE), None),
        render_count(series.median(TIME)),
        render_count(series.median(P99)),
        over,
    ]);
}

/// Where the proxy is, if one was started for us.
#[allow(clippy::disallowed_methods, reason = "the script hands the proxy's address over in the environment")]
pub(crate) fn litellm_address() -> Option<String> {
    std::env::var("MUNSHI_BENCH_LITELLM").ok()
}

/// The one request all make, but for its model.
pub(crate) fn question() -> munshi_llm::ChatRequest {
    munshi_llm::ChatRequest {
        system: vec!["You keep a shop's books. ".repeat(200)],
        messages: vec![munshi_llm::ChatMessage::user("How much does Ramesh owe me, and since when?")],
        max_output_tokens: 300,
        ..munshi_llm::ChatRequest::default()
    }
}
