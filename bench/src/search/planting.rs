//! Messages as people write them, in number: few words make up most of what is said, and most words are rare.

use std::time::Duration;

use anyhow::Result;
use munshi_conversations::messages::{self, Message, MessageSpeaker, MessageStatus};
use munshi_identity::persons::{self, Person, seal_by_person};
use munshi_store::{Db, StoreOptions, Tx, params};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::tier::Channel;
use munshi_types::{
    BindingId, Clock, IdGenerator, PersonId, Random, SeededRandom, SessionId, SystemClock, TenantId,
    Timestamp,
};
use serde_json::json;

/// Once in so many messages.
const RARE_EVERY: usize = 100_003;
pub(super) const RARE: &str = "zafrani";
/// In one of five messages.
pub(super) const FREQUENT: &str = "hisaab";

/// Different words that are said.
const WORDS: usize = 50_000;
const PEOPLE: usize = 2_000;
const AT_ONCE: usize = 2_000;

pub(super) struct Corpus {
    _test: TestDb,
    pub(super) db: Db,
    pub(super) tenant: TenantId,
    pub(super) persons: Vec<PersonId>,
}

/// Whose thread it is.
#[derive(Clone, Copy)]
struct Thread {
    person: PersonId,
    session: SessionId,
    binding: BindingId,
}

impl Corpus {
    pub(super) async fn plant(engine: DatabaseEngine, count: usize) -> Result<Self> {
        let lists = munshi_test_app::list_migrations(&[]);
        let test = TestDb::open_with(engine, &lists, StoreOptions::default()).await;
        let tenant = test.add_tenant("shop").await;
        let (db, now) = (test.db.clone(), SystemClock.now());
        let threads = db.write(tenant, move |tx| add_threads(tx, now)).await?;
        let began = now.minus(Duration::from_secs(u64::try_from(count)? * 5));
        for from in (0..count).step_by(AT_ONCE) {
            let (threads, numbers) = (threads.clone(), from..(from + AT_ONCE).min(count));
            let random = SeededRandom::new(u64::try_from(from)?);
            let add = move |tx: &mut Tx<'_>| -> munshi_store::Result<()> {
                for number in numbers {
                    let thread = threads[below(&random, threads.len())];
                    let at = began.plus(Duration::from_secs(number as u64 * 5));
                    add_message(tx, thread, (number, at), make_text(&random, number))?;
                }
                Ok(())
            };
            db.write(tenant, add).await?;
        }
        let persons = threads.iter().map(|thread| thread.person).collect();
        Ok(Self { _test: test, db, tenant, persons })
    }
}

fn add_threads(tx: &mut Tx<'_>, now: Timestamp) -> munshi_store::Result<Vec<Thread>> {
    let ids = IdGenerator::system();
    let binding = ids.next();
    let mut threads = Vec::with_capacity(PEOPLE);
    for number in 0..PEOPLE {
        let person = Person::new(&ids, format!("Person {number}"), now);
        persons::upsert(tx, &person)?;
        let thread = Thread { person: person.id, session: ids.next(), binding };
        tx.send(
            "INSERT INTO sessions (tenant_id, id, binding_id, person_id, channel, messages, summarised, entities, tainted,
               began_at, last_at, aside_tainted)
             VALUES ($1, $2, $3, $4, 'whatsapp', 0, 0, '{}', 0, $5, $5, 0)",
            params![thread.session, thread.binding, thread.person, now],
        )?;
        threads.push(thread);
    }
    Ok(threads)
}

fn add_message(
    tx: &mut Tx<'_>,
    thread: Thread,
    (number, at): (usize, Timestamp),
    text: String,
) -> munshi_store::Result<()> {
    let ids = IdGenerator::system();
    let by = seal_by_person(tx, thread.person)?;
    let message = Message {
        id: ids.next(),
        session: thread.session,
        number: i64::try_from(number).unwrap_or_default(),
        run: ids.next(),
        binding: thread.binding,
        speaker: MessageSpeaker::Person,
        channel: Channel::Whatsapp,
        outside_id: None,
        text,
        attached: Vec::new(),
        language: None,
        tokens: 10,
        standing: MessageStatus::Whole,
        generation: 0,
        marks: json!({}),
        suggestions: Vec::new(),
        said_at: at,
    };
    messages::add(tx, by, &message)
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
