//! A whole node with the notice board of `docs/packs.md`, which uses every door of a pack's installer. It gets one cause of each kind
//! and dies at one step of its work; the next process goes on. Each cause has its effects once, whichever step it was.
//!
//! A step is a commit of the store, or a call of the world outside, before and after it has happened there. What a process dies with
//! between two of these is gone with it. Here some steps are tried, others each time; `make soak` tries all of them.
//! `MUNSHI_STEP=commit-17` or `call-3-before` tries that one alone.
#![allow(clippy::print_stdout, reason = "the long run tells its figures")]

mod causes;
#[allow(dead_code, reason = "the pack's own tests use the rest")]
#[path = "../../../pack/tests/board/doors.rs"]
mod doors;
mod effects;
mod living;
mod node;
#[allow(dead_code, reason = "the pack's own tests use the rest")]
#[path = "../../../pack/tests/board/pack.rs"]
mod pack;
#[path = "../../../pack/tests/board/rounds.rs"]
mod rounds;
mod world;

use std::time::Duration;

use munshi_safety::audit;
use munshi_test_support::{DatabaseEngine, TestDb, environment, process};
use munshi_types::{Clock, Random, SystemClock, SystemRandom, Timestamp};

use crate::api::support::{Installation, Place};
use causes::Causes;
use effects::Effects;
use living::{Killer, Living};
use node::Part;
use world::{CallMoment, World};

/// So many calls there are, and about so many commits: SQLite's writer puts several units into one. One beyond the last is a life
/// without a death.
const CALLS: u64 = 10;

const fn count_commits(engine: DatabaseEngine) -> u64 {
    match engine {
        DatabaseEngine::Sqlite => 130,
        DatabaseEngine::Postgres => 270,
    }
}

/// So long a node has to come to its rest.
const REST: Duration = Duration::from_secs(45);
/// A day and an hour: the reminders, the schedule, the heartbeat and the poll are due by then. What the poll brings has its reminder
/// on the day after.
const NEXT_DAY: u64 = 25 * 3600;
const FIRST_NIGHT: [(&str, i64); 3] =
    [("job board.sweep done", 2), ("told alert.raised", 1), ("notice Power", 2)];

/// Where the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Commit(i64),
    Call(usize, CallMoment),
}

impl Step {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split('-');
        Some(match (words.next()?, words.next()?.parse().ok()?, words.next()) {
            ("commit", number, None) => Self::Commit(number),
            ("call", number, Some("before")) => Self::Call(usize::try_from(number).ok()?, CallMoment::Before),
            ("call", number, Some("after")) => Self::Call(usize::try_from(number).ok()?, CallMoment::After),
            _ => return None,
        })
    }
}

#[test]
fn the_node_serves() {
    let Some(role) = process::role() else { return };
    node::run(&serde_json::from_str(&role).unwrap());
}

/// How long until it is nine in the morning of India, so that what is due by the hour comes at the same place each time.
fn until_morning(now: Timestamp) -> u64 {
    const DAY: i64 = 86_400;
    let nine_utc = 3 * 3600 + 1800;
    u64::try_from((nine_utc - now.as_micros() / 1_000_000).rem_euclid(DAY)).unwrap()
}

/// Lives, dies at the step, goes on; gives whether it died.
async fn live(engine: DatabaseEngine, step: Step) -> bool {
    let test = TestDb::open(engine, &node::migrations()).await;
    let later = until_morning(SystemClock.now());
    let start = SystemClock.now().plus(Duration::from_secs(later));
    test.clock.set(start);
    let (killer, commits, call) = match step {
        Step::Commit(number) => (Killer::default(), Some(number), None),
        Step::Call(number, moment) => (Killer::default(), None, Some((number, moment))),
    };
    let world = World::start(killer.clone(), call).await;
    let (clock, ids) = (test.clock.clone(), test.ids.clone());
    let place = Place { db: test.db.clone(), clock, ids, folder: test.place.folder() };
    let house = node::open(place, None, world.port).await;
    let causes = Causes::prepare(&house).await;
    let url = match engine {
        DatabaseEngine::Sqlite => format!("sqlite:{}", test.place.folder().join("munshi.db").display()),
        DatabaseEngine::Postgres => test.place.postgres_url("munshi_owner"),
    };
    let known = Some((house.shop, house.other));
    let part = Part { url, folder: test.place.folder(), world: world.port, known, later, commits };
    let mut node = Living::start(part, killer).await;
    causes.happen(&house, &mut node).await;
    let mut days = Days { house: &house, causes: &causes, node, world: &world, name: (engine, step) };
    days.rest(|_| true).await;
    days.node.move_clock(NEXT_DAY);
    days.rest(|found| FIRST_NIGHT.iter().all(|(name, count)| found.get(*name) == Some(count))).await;
    days.node.move_clock(NEXT_DAY);
    days.rest(|found| effects::compare(found).is_empty()).await;
    let deaths = days.node.deaths;
    days.node.end();
    let chain = audit::verify::verify(&house.db, house.shop.tenant, &[]).await.unwrap();
    assert_eq!(chain.finding, None, "{engine:?}, {step:?}");
    deaths > 0
}

struct Days<'d> {
    house: &'d Installation,
    causes: &'d Causes,
    node: Living,
    world: &'d World,
    name: (DatabaseEngine, Step),
}

impl Days<'_> {
    async fn count(&self) -> Effects {
        effects::count(&self.house.db, self.house.shop.tenant, self.world).await
    }

    /// Until nothing is under way and the effects are there.
    async fn rest(&mut self, is_there: impl Fn(&Effects) -> bool) {
        let began = tokio::time::Instant::now();
        loop {
            self.node.revive().await;
            self.causes.say_yes(&mut self.node).await;
            let now = SystemClock.now().plus(Duration::from_secs(self.node.part.later));
            let open = effects::list_open(&self.house.db, self.house.shop.tenant, now).await;
            let found = self.count().await;
            if open.is_empty() && is_there(&found) {
                return;
            }
            let (name, deaths, wrong) = (self.name, self.node.deaths, effects::compare(&found));
            assert!(
                began.elapsed() < REST,
                "{name:?}, died {deaths} times: {wrong:#?}, under way: {open:#?}"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "which step to try is said from outside")]
fn named_step() -> Option<Step> {
    let text = std::env::var("MUNSHI_STEP").ok()?;
    Some(Step::parse(&text).expect("MUNSHI_STEP is commit-N, call-N-before or call-N-after"))
}

async fn die_at_each_step(engine: DatabaseEngine) {
    if let Some(step) = named_step() {
        println!("{engine:?}, {step:?}: died {}", live(engine, step).await);
        return;
    }
    if !environment::is_long_run() {
        let commit = 1 + SystemRandom.next_below(count_commits(engine));
        live(engine, Step::Commit(i64::try_from(commit).unwrap())).await;
        let call = usize::try_from(1 + SystemRandom.next_below(CALLS)).unwrap();
        let moment = [CallMoment::Before, CallMoment::After][usize::from(call.is_multiple_of(2))];
        live(engine, Step::Call(call, moment)).await;
        return;
    }
    let commits = async {
        let mut number = 1;
        while live(engine, Step::Commit(number)).await {
            number += 1;
        }
        number - 1
    };
    let commits = commits.await;
    let mut calls = 0;
    while live(engine, Step::Call(calls + 1, CallMoment::Before)).await {
        live(engine, Step::Call(calls + 1, CallMoment::After)).await;
        calls += 1;
    }
    println!(
        "{engine:?}: died after each of {commits} commits and at each of {calls} calls; each effect is there once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_the_sample_pack_dies_at_any_step_on_sqlite() {
    die_at_each_step(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_the_sample_pack_dies_at_any_step_on_postgres() {
    die_at_each_step(DatabaseEngine::Postgres).await;
}
