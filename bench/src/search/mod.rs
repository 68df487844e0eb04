//! Search in sealed messages: a million of them put into the index, and pages of 25 searched for.

mod planting;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use munshi_conversations::search::{FillScope, MessageSearch, SearchFiller, SearchQuery, search_messages};
use munshi_store::Tx;
use munshi_test_support::DatabaseEngine;
use munshi_types::{Clock, Random, SeededRandom, SystemClock};
use tokio::runtime::Runtime;

use self::planting::{Corpus, FREQUENT, RARE, word};
use crate::arguments::Arguments;
use crate::report::{Goal, Table, render_count, render_verdict};
use crate::rerun;
use crate::sealed_database::SealedNode;

const ASKED: usize = 300;
const PAGE: usize = 25;
/// Milliseconds.
const GOAL: f64 = 30.0;

/// Its name, and the text of a search of it.
type SearchKind = (&'static str, fn(&SeededRandom) -> String);

/// What is asked for, with a word or two of its own each time.
const KINDS: [SearchKind; 6] = [
    ("a rare word", |_| RARE.to_owned()),
    ("a frequent word", |_| FREQUENT.to_owned()),
    ("some word", |random| word(pick(random, 20, 5_000))),
    ("two words", |random| format!("{} {}", word(pick(random, 5, 60)), word(pick(random, 60, 600)))),
    ("a phrase", |random| format!("\"{} {}\"", word(pick(random, 1, 30)), word(pick(random, 1, 30)))),
    ("a word that nobody said", |random| format!("nowhere{}", random.next_below(1_000_000))),
];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if rerun::lacks_postgres(arguments) {
        return rerun::run_with_postgres("search", arguments);
    }
    let runtime = Runtime::new()?;
    for engine in arguments.engines() {
        compare(engine, arguments.messages, &runtime)?;
    }
    Ok(())
}

fn compare(engine: DatabaseEngine, messages: usize, runtime: &Runtime) -> Result<()> {
    let began = Instant::now();
    let corpus = Corpus::plant(engine, messages, runtime)?;
    let planted = began.elapsed().as_secs_f64();
    println!("\n{} sealed messages planted on {engine:?} in {planted:.0} s", render_count(messages as f64));
    let (added, filled) = runtime.block_on(fill(&corpus))?;
    corpus.analyze_tables();
    let mut built = Table::new(["messages", "seconds", "a second"]);
    built.add_row([render_count(added as f64), format!("{filled:.0}"), render_count(added as f64 / filled)]);
    built.print(&format!("Put into the index on {engine:?}"));
    let mut asked =
        Table::new(["what", "hits", "p50 ms", "p95 ms", "p99 ms", "keys missing", "p95 to the goal"]);
    runtime.block_on(ask(&corpus, &mut asked))?;
    asked.print(&format!("The first {PAGE} of what is found on {engine:?}, one caller"));
    Ok(())
}

/// How many were added, and in how many seconds.
async fn fill(corpus: &Corpus) -> Result<(usize, f64)> {
    let filler = SearchFiller { db: corpus.open().await?.db, clock: Arc::new(SystemClock) };
    let began = Instant::now();
    let added = filler.fill(corpus.tenant, FillScope::New, || false).await?;
    Ok((added, began.elapsed().as_secs_f64()))
}

/// By a process that has just started: the first searches have to fetch keys too.
async fn ask(corpus: &Corpus, table: &mut Table<7>) -> Result<()> {
    let node = corpus.open().await?;
    let mut all = SearchFigures::default();
    for (what, make) in KINDS {
        let figures = measure(corpus, &node, make, false).await?;
        all.extend(&figures);
        figures.add_to(table, what);
    }
    let (_, make) = KINDS[1];
    let figures = measure(corpus, &node, make, true).await?;
    all.extend(&figures);
    figures.add_to(table, "a frequent word, of one person");
    all.add_to(table, "all of these");
    Ok(())
}

async fn measure(
    corpus: &Corpus,
    node: &SealedNode,
    make: fn(&SeededRandom) -> String,
    is_of_one: bool,
) -> Result<SearchFigures> {
    let (random, misses) = (SeededRandom::new(5), node.keyring.misses());
    let mut figures = SearchFigures::default();
    for _ in 0..ASKED {
        let query = SearchQuery::parse(&make(&random))?;
        let persons = is_of_one.then(|| vec![corpus.persons[pick(&random, 0, corpus.persons.len())]]);
        let wanted = MessageSearch { persons, ..MessageSearch::new(query, PAGE, SystemClock.now()) };
        let began = Instant::now();
        let search = move |tx: &mut Tx<'_>| search_messages(tx, &wanted);
        figures.hits += node.db.read(corpus.tenant, search).await?.hits.len();
        figures.took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    figures.misses = node.keyring.misses() - misses;
    Ok(figures)
}

/// What some searches found, and what they cost.
#[derive(Default)]
struct SearchFigures {
    hits: usize,
    /// Milliseconds.
    took: Vec<f64>,
    /// How often keys had to be fetched.
    misses: u64,
}

impl SearchFigures {
    fn extend(&mut self, others: &Self) {
        self.hits += others.hits;
        self.took.extend(&others.took);
        self.misses += others.misses;
    }

    fn add_to(mut self, table: &mut Table<7>, what: &str) {
        self.took.sort_by(f64::total_cmp);
        let count = self.took.len();
        let [p50, p95, p99] = [50, 95, 99].map(|part| self.took[(count * part).div_ceil(100) - 1]);
        table.add_row([
            what.to_owned(),
            format!("{:.1}", self.hits as f64 / count as f64),
            format!("{p50:.2}"),
            format!("{p95:.2}"),
            format!("{p99:.2}"),
            self.misses.to_string(),
            render_verdict(p95, Goal::AtMost(GOAL), 0),
        ]);
    }
}

fn pick(random: &SeededRandom, from: usize, to: usize) -> usize {
    from + usize::try_from(random.next_below((to - from) as u64)).unwrap_or_default()
}
