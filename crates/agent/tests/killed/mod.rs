//! The whole engine in a process that is killed with -9 at random moments, again and again, while people write to it:
//! no message is lost, nothing is done twice, and everybody gets an answer.
//!
//! Ten kills on each database here. `MUNSHI_KILLS=200 scripts/postgres.sh run cargo test -p munshi-agent --test tests -- killed::
//! -- --nocapture --test-threads=1` is the long one; it says what it saw. With `MUNSHI_LIFE_MS=500` each process is killed
//! half a second after it was ready, whatever it does then.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and the long run tells its figures"
)]

mod child;
mod outside;
mod people;
mod shop;
mod two_nodes;
mod verdict;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use munshi_test_support::{DatabaseEngine, PATIENCE, TestDb, process};
use munshi_types::{Clock, InboundMessage, Random, SeededRandom, SystemClock, SystemRandom};

use child::{ABORT, Part};
use outside::World;
use people::People;
use shop::{Shop, migrations};

/// A process lives until so much was asked of the world outside, at most, and a moment longer; on a machine that is too
/// busy for that, until its time is over.
const MOST_ASKED: u64 = 40;
const MOMENT: u64 = 60;
const LONGEST_LIFE: Duration = Duration::from_secs(4);
/// Between one process and the next, by the clock they go by. Runs are held for 30 s and acts for 44 s, so some are
/// taken up by the next process, and some by a later one.
const PAUSES: [u64; 3] = [2, 20, 45];
/// Messages and runs in the background that a process works on at once.
const PLACES: (usize, usize) = (256, 8);
/// Within this, whoever comes next has answered what was left, on a busy machine too; a run's lease is longer.
const AT_ONCE: Duration = Duration::from_secs(25);

#[test]
fn the_child_answers() {
    let Some(role) = process::role() else { return };
    child::run(&serde_json::from_str(&role).unwrap());
}

#[allow(clippy::disallowed_methods, reason = "how long to go on is said from outside")]
fn kills() -> usize {
    std::env::var("MUNSHI_KILLS").ok().map_or(10, |number| number.parse().unwrap())
}

/// A process of the engine, and its door.
struct Living {
    child: Child,
    _out: BufReader<ChildStdout>,
    port: u16,
}

impl Living {
    #[allow(clippy::zombie_processes, reason = "a child that never was ready has ended the test")]
    fn start(part: &Part) -> Self {
        let role = serde_json::to_string(part).unwrap();
        let mut child = process::build_child_command(concat!(module_path!(), "::the_child_answers"), &role)
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        loop {
            let mut line = String::new();
            assert!(out.read_line(&mut line).unwrap() > 0, "the child ended before it was ready");
            if let Some(port) = line.trim().strip_prefix("<<ready ").and_then(|rest| rest.strip_suffix(">>"))
            {
                let port = port.parse().unwrap();
                return Self { child, _out: out, port };
            }
        }
    }

    /// Dead at once: nothing is finished, nothing is said.
    fn kill(mut self) {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.code().is_none(), "the child ended by itself: {status}");
    }
}

async fn found(engine: DatabaseEngine, world: &World) -> (TestDb, Shop) {
    let test = TestDb::open(engine, &migrations()).await;
    test.clock.set(SystemClock.now());
    let shop = Shop::found(&child::app(&test.db, test.clock.clone(), world.port, PLACES.0)).await;
    (test, shop)
}

async fn survive(engine: DatabaseEngine) {
    let mut seed = [0; 8];
    SystemRandom.fill(&mut seed);
    let (seed, kills) = (u64::from_le_bytes(seed), kills());
    println!("{engine:?}: {kills} kills, seed {seed}");
    let random = Arc::new(SeededRandom::new(seed));
    let world = World::start(random.clone()).await;
    let (test, shop) = found(engine, &world).await;
    let people = People::gather(&shop, &world, &random);
    let mut part = part_in(&test, engine, &world);
    for _ in 0..kills {
        let living = start(&part).await;
        people.door(&[living.port]);
        live(&world, &random).await;
        people.door(&[]);
        living.kill();
        part.later += PAUSES[usize::try_from(random.next_below(3)).unwrap()];
    }
    people.enough();
    part.later += 60;
    let last = start(&part).await;
    people.door(&[last.port]);
    let sent =
        tokio::time::timeout(PATIENCE, people.done()).await.expect("somebody's message is never taken");
    let ended = tokio::time::timeout(PATIENCE, verdict::until_quiet(&test.db, shop.tenant)).await;
    last.kill();
    let seen = verdict::look(&test.db, shop.tenant).await;
    assert!(ended.is_ok(), "it never comes to rest: {:?}", seen.unfinished());
    let figures = verdict::judge(&seen, &sent, &world);
    let later = SystemClock.now().plus(Duration::from_secs(part.later));
    verdict::books(&test.db, shop.tenant, &seen, later).await;
    println!("{engine:?}: {kills} kills, {figures}");
}

fn part_in(test: &TestDb, engine: DatabaseEngine, world: &World) -> Part {
    let url = match engine {
        DatabaseEngine::Sqlite => format!("sqlite:{}", test.place.folder().join("munshi.db").display()),
        DatabaseEngine::Postgres => test.place.postgres_url("munshi_owner"),
    };
    Part { url, world: world.port, later: 0, places: PLACES, job_lease: 60 }
}

/// Killed while the world outside is asked: whoever comes next waits for no lease, neither the act's nor the run's, since
/// the process is known to be dead.
async fn go_on_at_once(engine: DatabaseEngine) {
    let world = World::start(Arc::new(SeededRandom::new(7))).await;
    let (test, shop) = found(engine, &world).await;
    let mut part = part_in(&test, engine, &world);
    for (number, tool) in ["fetch", "book", "order", "fax"].into_iter().enumerate() {
        let living = start(&part).await;
        world.is_mute.store(true, Ordering::SeqCst);
        let (before, mut asked) = (*world.asked.borrow(), world.asked.clone());
        let message = people::message((number, shop.staff[number]), &format!("P{number}"), &[tool]);
        people::hand_in(living.port, &message).await.unwrap().unwrap();
        asked.wait_for(|count| *count > before).await.unwrap();
        living.kill();
        world.is_mute.store(false, Ordering::SeqCst);
        let next = start(&part).await;
        let is_answered = || {
            let ledger = world.ledger.lock().unwrap();
            ledger
                .replies
                .iter()
                .any(|(_, to, text)| *to == format!("asha-{number}") && text.contains("It is done"))
        };
        let begun = tokio::time::Instant::now();
        while !is_answered() {
            assert!(begun.elapsed() < AT_ONCE, "{engine:?}: after a kill inside {tool} nobody is answered");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        println!(
            "{engine:?}: killed inside {tool}, answered {} ms after the next start",
            begun.elapsed().as_millis()
        );
        next.kill();
        // What that process was at is over by then.
        part.later += 60;
    }
    let effects = world.ledger.lock().unwrap().effects.clone();
    assert!(effects.len() == 3 && effects.values().all(|keys| keys.len() == 1), "{effects:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_inside_a_far_tool_on_sqlite() {
    go_on_at_once(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_inside_a_far_tool_on_postgres() {
    go_on_at_once(DatabaseEngine::Postgres).await;
}

/// One message breaks every process that works on it, beside twenty that do not: it alone is set aside.
async fn set_aside_alone(engine: DatabaseEngine) {
    let world = World::start(Arc::new(SeededRandom::new(7))).await;
    let (test, shop) = found(engine, &world).await;
    let part = part_in(&test, engine, &world);
    let mut left: Vec<InboundMessage> = (0..20)
        .map(|number| people::message((number % 7, shop.staff[number % 7]), &format!("P{number}"), &["note"]))
        .collect();
    left.insert(3, people::message((7, shop.staff[7]), "Poison", &[ABORT.trim()]));
    let mut lives = 0;
    loop {
        let mut living = start(&part).await;
        lives += 1;
        assert!(lives < 16, "it is never set aside");
        while let Some(message) = left.first() {
            match people::hand_in(living.port, message).await {
                Ok(Some(_)) => drop(left.remove(0)),
                _ => break,
            }
        }
        let quiet = verdict::until_ended(&test.db, shop.tenant);
        let aborted = async {
            while living.child.try_wait().unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let is_quiet = tokio::select! {
            () = quiet, if left.is_empty() => true,
            () = aborted => false,
            () = tokio::time::sleep(PATIENCE) => panic!("it neither ends nor aborts"),
        };
        if is_quiet {
            living.kill();
            break;
        }
    }
    let seen = verdict::look(&test.db, shop.tenant).await;
    let [(which, why)] = verdict::set_aside(&seen)[..] else { panic!("{:?}", verdict::set_aside(&seen)) };
    assert!(which == "Poison" && why.contains("aborted after repeated crashes"), "{which}: {why}");
    assert_eq!(verdict::notes(&seen), (0..20).map(|number| format!("P{number}")).collect());
    println!("{engine:?}: one that aborts beside 20: set aside alone, in its process number {lives}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_aborts_is_set_aside_alone_on_sqlite() {
    set_aside_alone(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_aborts_is_set_aside_alone_on_postgres() {
    set_aside_alone(DatabaseEngine::Postgres).await;
}

#[allow(clippy::disallowed_methods, reason = "how long to live is said from outside")]
fn life() -> Option<Duration> {
    std::env::var("MUNSHI_LIFE_MS").ok().map(|number| Duration::from_millis(number.parse().unwrap()))
}

/// Until a moment that nobody can foresee, unless one is named.
async fn live(world: &World, random: &SeededRandom) {
    if let Some(life) = life() {
        return tokio::time::sleep(life).await;
    }
    let mut asked = world.asked.clone();
    let last = *asked.borrow() + usize::try_from(1 + random.next_below(MOST_ASKED)).unwrap();
    // What it gives back holds the count: it is let go at once.
    drop(tokio::time::timeout(LONGEST_LIFE, asked.wait_for(|count| *count >= last)).await);
    tokio::time::sleep(Duration::from_millis(random.next_below(MOMENT))).await;
}

async fn start(part: &Part) -> Living {
    let part = part.clone();
    tokio::task::spawn_blocking(move || Living::start(&part)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_on_sqlite() {
    survive(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_on_postgres() {
    survive(DatabaseEngine::Postgres).await;
}
