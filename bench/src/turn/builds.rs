//! Turns of two builds of the product, alternating: the same messages to both, by one caller who waits for each answer.
//! The offline model answers, so that nothing but the product takes time; then a model server on loopback, before which
//! names are hidden.

use std::cell::Cell;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use tokio::runtime::Runtime;

use super::served_build::{ApiMessage, PLAIN, ServedBuild, WITH_TOOL};
use super::shop::QUESTION;
use crate::arguments::{Arguments, ComparedBuilds};
use crate::contest::{self, CPU, Contestant, P99, RATE, Series, TIME};
use crate::gateway::Mock;
use crate::load::{Load, Tally};
use crate::report::{Goal, Table, render_count, render_ratio};

/// Turns of each build in each round, and more where the window is longer.
const TURNS: usize = 200;
/// The new build's time to the old one's.
const GOAL: f64 = 1.08;

/// Which turns are compared.
struct TurnKind {
    what: &'static str,
    binding: &'static str,
    text: &'static str,
    /// Who write, in turn; none where it is somebody new each time. Enough of them that none reaches their limit.
    people: Option<usize>,
    /// How often each has written before anything is measured.
    written_before: usize,
}

const KINDS: [TurnKind; 4] = [
    TurnKind {
        what: "words, long conversations",
        binding: PLAIN,
        text: QUESTION,
        people: Some(64),
        written_before: 8,
    },
    TurnKind {
        what: "a tool, long conversations",
        binding: WITH_TOOL,
        text: "what is today's date?",
        people: Some(64),
        written_before: 8,
    },
    TurnKind {
        what: "words, 1,000 people",
        binding: PLAIN,
        text: QUESTION,
        people: Some(1_000),
        written_before: 1,
    },
    TurnKind {
        what: "words, first messages",
        binding: PLAIN,
        text: QUESTION,
        people: None,
        written_before: 0,
    },
];

pub(super) fn run(builds: &ComparedBuilds, arguments: &Arguments, runtime: &Runtime) -> Result<()> {
    let mock = Mock::start()?;
    for engine in arguments.engines() {
        for model in [None, Some(mock.address.as_str())] {
            let start = |binary: &Path| ServedBuild::start(binary, engine, model);
            let (old, new) = (start(&builds.old)?, start(&builds.new)?);
            let answers = if model.is_some() { "a model server" } else { "the offline model" };
            // The model server calls no tool.
            let kinds = KINDS.iter().filter(|kind| model.is_none() || kind.binding == PLAIN);
            let table = compare((&old, &new), kinds, arguments, runtime)?;
            table.print(&format!("A turn of two builds on {engine:?}, one caller over the API, {answers}"));
            let (old, new) = (old.resident_megabytes()?, new.resident_megabytes()?);
            println!("  resident after all of them: old {old:.1} MB, new {new:.1} MB");
        }
    }
    Ok(())
}

fn compare<'a>(
    (old, new): (&ServedBuild, &ServedBuild),
    kinds: impl Iterator<Item = &'a TurnKind>,
    arguments: &Arguments,
    runtime: &Runtime,
) -> Result<Table<8>> {
    let load = Load { runtime, callers: 1, window: arguments.window };
    let mut table = Table::new([
        "turns",
        "build",
        "turns/s",
        "median µs",
        "p99 µs",
        "processor µs",
        "tools",
        "to the old",
    ]);
    for (number, kind) in kinds.enumerate() {
        let old = BuildCaller::new(old, kind, number);
        let new = BuildCaller::new(new, kind, number);
        for caller in [&old, &new] {
            caller.warm_up(runtime)?;
        }
        let [before, after] = contest::run_rounds([&old, &new], &load, arguments.rounds)?;
        row(&mut table, (kind.what, "old"), (&before, &old), String::new());
        let time = render_ratio(after.ratio(&before, TIME), Some(Goal::AtMost(GOAL)));
        let cpu = after.ratio(&before, CPU);
        row(&mut table, (kind.what, "new"), (&after, &new), format!("{time}, {cpu:.2}x the processor"));
    }
    Ok(table)
}

/// Who writes to one build, and how often so far.
struct BuildCaller<'a> {
    build: &'a ServedBuild,
    kind: &'a TurnKind,
    /// Which of the kinds it is: each has people of its own.
    number: usize,
    sent: Cell<usize>,
    called: Cell<usize>,
}

impl<'a> BuildCaller<'a> {
    fn new(build: &'a ServedBuild, kind: &'a TurnKind, number: usize) -> Self {
        Self { build, kind, number, sent: Cell::new(0), called: Cell::new(0) }
    }

    fn warm_up(&self, runtime: &Runtime) -> Result<()> {
        for _ in 0..self.kind.people.unwrap_or(0) * self.kind.written_before {
            runtime.block_on(self.send_next())?;
        }
        self.build.analyze_tables();
        Ok(())
    }

    async fn send_next(&self) -> Result<()> {
        let (sent, kind) = (self.sent.get(), self.kind);
        let person = kind.people.map_or(sent, |people| sent % people);
        let phone = format!("+919{}{person:08}", self.number);
        let name = (sent == person).then(|| format!("Customer {person}"));
        let message = ApiMessage { binding: kind.binding, phone, name, text: kind.text };
        let called = self.build.send(&message).await?;
        self.sent.set(sent + 1);
        self.called.set(self.called.get() + called);
        Ok(())
    }

    /// Calls of tools for each message: where two builds differ in this, they don't do the same.
    fn calls_each(&self) -> f64 {
        self.called.get() as f64 / self.sent.get().max(1) as f64
    }
}

impl Contestant for BuildCaller<'_> {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let spent = self.build.processor_time()?;
        let (began, mut times) = (Instant::now(), Vec::new());
        while times.len() < TURNS || began.elapsed() < load.window {
            let asked = Instant::now();
            load.runtime.block_on(self.send_next())?;
            times.push(asked.elapsed());
        }
        Ok(Tally::from_times(times, began.elapsed(), self.build.processor_time()? - spent))
    }
}

fn row(
    table: &mut Table<8>,
    (what, build): (&str, &str),
    (series, caller): (&Series, &BuildCaller<'_>),
    beside: String,
) {
    table.add_row([
        what.to_owned(),
        build.to_owned(),
        render_count(series.median(RATE)),
        render_count(series.median(TIME)),
        render_count(series.median(P99)),
        render_count(series.median(CPU)),
        format!("{:.1}", caller.calls_each()),
        beside,
    ]);
}
