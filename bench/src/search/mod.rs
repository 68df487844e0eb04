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

const ASKED: usize = 300;
const PAGE: usize = 25;
/// Milliseconds.
const GOAL: f64 = 30.0;

/// What is asked for, with a word or two of its own each time.
const KINDS: [(&str, fn(&SeededRandom) -> String); 6] = [
    ("a rare word", |_| RARE.to_owned()),
    ("a frequent word", |_| FREQUENT.to_owned()),
    ("some word", |random| word(pick(random, 20, 5_000))),
    ("two words", |random| format!("{} {}", word(pick(random, 5, 60)), word(pick(random, 60, 600)))),
    ("a phrase", |random| format!("\"{} {}\"", word(pick(random, 1, 30)), word(pick(random, 1, 30)))),
    ("a word that nobody said", |random| format!("nowhere{}", random.next_below(1_000_000))),
];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !rerun::has_postgres() {
        return rerun::run_with_postgres("search", arguments);
    }
    let runtime = Runtime::new()?;
    let mut built = Table::new(["database", "messages", "planted, s", "indexed, s", "messages a second"]);
    let mut asked = Table::new(["database", "what", "hits", "p50 ms", "p95 ms", "p99 ms", "p95 to the goal"]);
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let began = Instant::now();
        let corpus = runtime.block_on(Corpus::plant(engine, arguments.messages))?;
        let planted = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let filler = SearchFiller { db: corpus.db.clone(), clock: Arc::new(SystemClock) };
        let added = runtime.block_on(filler.fill(corpus.tenant, FillScope::New, || false))?;
        let filled = began.elapsed().as_secs_f64();
        built.add_row([
            format!("{engine:?}"),
            count_of(added),
            format!("{planted:.0}"),
            format!("{filled:.0}"),
            render_count(f64::from(u32::try_from(added)?) / filled),
        ]);
        for (what, make) in KINDS {
            asked.add_row(runtime.block_on(measure(&corpus, (engine, what), make, false))?);
        }
        let (what, make) = ("a frequent word, of one person", KINDS[1].1);
        asked.add_row(runtime.block_on(measure(&corpus, (engine, what), make, true))?);
    }
    built.print("Sealed messages put into the index");
    asked.print(&format!("The first {PAGE} of what is found, one caller"));
    Ok(())
}

async fn measure(
    corpus: &Corpus,
    (engine, what): (DatabaseEngine, &str),
    make: fn(&SeededRandom) -> String,
    is_of_one: bool,
) -> Result<[String; 7]> {
    let (random, mut took, mut hits) = (SeededRandom::new(5), Vec::with_capacity(ASKED), 0);
    for _ in 0..ASKED {
        let query = SearchQuery::parse(&make(&random))?;
        let persons = is_of_one.then(|| vec![corpus.persons[pick(&random, 0, corpus.persons.len())]]);
        let wanted = MessageSearch { persons, ..MessageSearch::new(query, PAGE, SystemClock.now()) };
        let began = Instant::now();
        let search = move |tx: &mut Tx<'_>| search_messages(tx, &wanted);
        hits += corpus.db.read(corpus.tenant, search).await?.hits.len();
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    let [p50, p95, p99] = [50, 95, 99].map(|part| took[(took.len() * part).div_ceil(100) - 1]);
    Ok([
        format!("{engine:?}"),
        what.to_owned(),
        format!("{:.1}", f64::from(u32::try_from(hits)?) / f64::from(u32::try_from(ASKED)?)),
        format!("{p50:.2}"),
        format!("{p95:.2}"),
        format!("{p99:.2}"),
        render_verdict(p95, Goal::AtMost(GOAL), 0),
    ])
}

fn pick(random: &SeededRandom, from: usize, to: usize) -> usize {
    from + usize::try_from(random.next_below((to - from) as u64)).unwrap_or_default()
}

fn count_of(number: usize) -> String {
    u32::try_from(number).map_or_else(|_| number.to_string(), |number| render_count(f64::from(number)))
}
