//! Messages as people write them, in number: few words make up most of what is said, and most words are rare.

use std::ops::Range;
use std::time::Duration;

use anyhow::Result;
use munshi_identity::persons::{self, Person};
use munshi_store::{Db, Tx};
use munshi_test_support::DatabaseEngine;
use munshi_types::{Clock, IdGenerator, PersonId, Random, SeededRandom, SystemClock, TenantId, Timestamp};
use tokio::runtime::Runtime;

use crate::planted_thread::PlantedThread;
use crate::sealed_database::{CACHED, SealedDatabase, SealedNode};

/// Once in so many messages.
const RARE_EVERY: usize = 100_003;
pub(super) const RARE: &str = "zafrani";
/// In one of five messages.
pub(super) const FREQUENT: &str = "hisaab";

/// Different words that are said.
const WORDS: usize = 50_000;
const PEOPLE: usize = 2_000;
const AT_ONCE: usize = 2_000;

/// Between two messages of the tenant.
const PACE: Duration = Duration::from_secs(5);

pub(super) struct Corpus {
    database: SealedDatabase,
    pub(super) tenant: TenantId,
    pub(super) persons: Vec<PersonId>,
}

impl Corpus {
    pub(super) fn plant(engine: DatabaseEngine, count: usize, runtime: &Runtime) -> Result<Self> {
        let database = SealedDatabase::create(engine, runtime)?;
        let tenant = database.tenant;
        let persons = runtime.block_on(async {
            let node = database.address.open(CACHED).await?;
            plant(&node.db, tenant, count).await
        })?;
        database.analyze_tables();
        Ok(Self { database, tenant, persons })
    }

    /// As a process has it that has just started.
    pub(super) async fn open(&self) -> Result<SealedNode> {
        self.database.address.open(CACHED).await
    }

    pub(super) fn analyze_tables(&self) {
        self.database.analyze_tables();
    }
}

/// Says who they are that wrote.
async fn plant(db: &Db, tenant: TenantId, count: usize) -> Result<Vec<PersonId>> {
    let now = SystemClock.now();
    let threads = db.write(tenant, move |tx| add_threads(tx, now)).await?;
    let began = now.minus(PACE * u32::try_from(count)?);
    for from in (0..count).step_by(AT_ONCE) {
        let (threads, numbers) = (threads.clone(), from..(from + AT_ONCE).min(count));
        db.write(tenant, move |tx| add_messages(tx, &threads, numbers, began)).await?;
    }
    Ok(threads.iter().map(|thread| thread.person).collect())
}

fn add_threads(tx: &mut Tx<'_>, now: Timestamp) -> munshi_store::Result<Vec<PlantedThread>> {
    let ids = IdGenerator::system();
    let binding = ids.next();
    let add = |number: usize| {
        let person = Person::new(&ids, format!("Person {number}"), now);
        persons::upsert(tx, &person)?;
        PlantedThread::add(tx, person.id, binding, now)
    };
    (0..PEOPLE).map(add).collect()
}

fn add_messages(
    tx: &mut Tx<'_>,
    threads: &[PlantedThread],
    numbers: Range<usize>,
    began: Timestamp,
) -> munshi_store::Result<()> {
    let (ids, random) = (IdGenerator::system(), SeededRandom::new(numbers.start as u64));
    for number in numbers {
        let Some(thread) = threads.get(below(&random, threads.len())) else { break };
        let at = began.plus(Duration::from_secs(number as u64 * PACE.as_secs()));
        thread.add_message(tx, &ids, (number, at), make_text(&random, number))?;
    }
    Ok(())
}

fn make_text(random: &SeededRandom, number: usize) -> String {
    let mut words: Vec<String> = (0..5 + below(random, 10)).map(|_| word(skewed(random))).collect();
    if number.is_multiple_of(5) {
        words.push(FREQUENT.to_owned());
    }
    if number % RARE_EVERY == RARE_EVERY / 2 {
        words.push(RARE.to_owned());
    }
    words.join(" ")
}

/// The lower, the more often: a word of twice the rank is said half as often.
fn skewed(random: &SeededRandom) -> usize {
    let part = f64::from(u32::try_from(random.next_below(1 << 24)).unwrap_or_default()) / f64::from(1 << 24);
    // From 1 to the number of words, and small enough for any integer.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies within the words there are"
    )]
    let rank = (WORDS as f64).powf(part) as usize;
    rank.min(WORDS - 1)
}

/// The word of a rank; one of three in Devanagari.
pub(super) fn word(rank: usize) -> String {
    const LATIN: [&str; 12] = ["ka", "mi", "to", "re", "sha", "bu", "di", "na", "pu", "le", "ga", "vo"];
    const NAGARI: [&str; 12] = ["का", "मि", "टो", "रे", "शा", "बु", "दि", "ना", "पु", "ले", "गा", "वो"];
    let syllables = if rank.is_multiple_of(3) { NAGARI } else { LATIN };
    let (mut rest, mut word) = (rank, String::from(syllables[rank % 12]));
    while rest > 0 {
        word.push_str(syllables[rest % 12]);
        rest /= 12;
    }
    word
}

fn below(random: &SeededRandom, bound: usize) -> usize {
    usize::try_from(random.next_below(bound as u64)).unwrap_or_default()
}
