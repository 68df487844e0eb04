//! Two processes on one Postgres, few places, people who write and work that nobody typed. One process is killed; one stands still for longer
//! than its leases and then goes on as if nothing had been: cut off, but living. Every message is answered once, everything is done once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use munshi_agent::background::{NewBackgroundRun, RunQueue};
use munshi_agent::runs::RunCause;
use munshi_pack::RunDelegator;
use munshi_safety::pipeline::CallerAudience;
use munshi_store::Db;
use munshi_test_support::{DatabaseEngine, PATIENCE};
use munshi_types::{Clock, Random, SeededRandom, SystemClock, SystemRandom};

use crate::killed::child::{self, ERRAND, ErrandInput};
use crate::killed::outside::World;
use crate::killed::people::{self, Message, People, Sent};
use crate::killed::shop::Shop;
use crate::killed::{Living, found, part_in, start, verdict};

/// Messages and runs in the background that a process works on at once.
const FEW: (usize, usize) = (4, 2);
/// Longer than any lease: runs are held for 30 s, acts for 44 s.
const LONG: u64 = 60;
/// So long people write before something happens to a process, and after it.
const MOMENT: Duration = Duration::from_millis(500);

/// Whether there is time: then a process stands still for as long as leases really last. Else the clocks of the others jump.
#[allow(clippy::disallowed_methods, reason = "how long to go on is said from outside")]
fn has_time() -> bool {
    std::env::var("MUNSHI_KILLS").is_ok()
}

fn signal(living: &Living, name: &str) {
    let pid = living.child.id().to_string();
    let sent = std::process::Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(sent.success());
}

/// Begins errands until it is told to stop, every second one on somebody's behalf.
async fn begin_errands(
    db: Db,
    shop: &Shop,
    run_queue: RunQueue,
    random: &SeededRandom,
    until: &std::sync::atomic::AtomicBool,
) -> Vec<Message> {
    let mut work = Vec::new();
    while !until.load(std::sync::atomic::Ordering::SeqCst) {
        let parcel = format!("E{}", work.len());
        let tools = some_tools(random);
        let splits = random.next_below(2) == 0;
        let names = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let input =
            serde_json::to_value(ErrandInput { parcel: parcel.clone(), tools: names, splits }).unwrap();
        let person = shop.staff[work.len() % shop.staff.len()];
        let (binding, session, key, ceiling) = (None, None, None, None);
        let by = RunDelegator { person, door: CallerAudience::Work, binding, session, key, ceiling };
        let is_theirs = work.len().is_multiple_of(2);
        let new =
            NewBackgroundRun { kind: ERRAND.to_owned(), cause: RunCause::Operation, cause_key: None, input };
        let (run_queue, at) = (run_queue.clone(), Instant::now());
        let begun = db.write(shop.tenant, move |tx| match is_theirs {
            true => run_queue.delegate(tx, &new, &by),
            false => run_queue.begin(tx, &new),
        });
        work.push(Message { parcel, tools, run: begun.await.unwrap().run, at });
        tokio::time::sleep(Duration::from_millis(20 + random.next_below(60))).await;
    }
    work
}

/// Some of our own, and then one elsewhere: after that, what nobody typed writes nothing more unasked.
fn some_tools(random: &SeededRandom) -> Vec<&'static str> {
    let here = ["count", "note"].into_iter().filter(|_| random.next_below(2) == 0);
    let elsewhere = ["fetch", "book", "order", "fax"];
    let last = elsewhere[usize::try_from(random.next_below(4)).unwrap()];
    here.chain([last]).collect()
}

/// How long after a moment the last of those was answered who waited for an answer then.
fn longest_wait(sent: &Sent, world: &World, since: Instant) -> Duration {
    let ledger = world.ledger.lock().unwrap();
    let waits = sent.messages.iter().filter_map(|message| {
        let answered = ledger.replied_at.get(&format!("It is done: {}.", message.parcel))?;
        (message.at <= since && *answered >= since).then(|| *answered - since)
    });
    waits.max().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_nodes_is_killed_and_one_is_cut_off() {
    let mut seed = [0; 8];
    SystemRandom.fill(&mut seed);
    let seed = u64::from_le_bytes(seed);
    println!("two nodes: seed {seed}");
    let random = Arc::new(SeededRandom::new(seed));
    let world = World::start(random.clone()).await;
    let (test, shop) = found(DatabaseEngine::Postgres, &world).await;
    let part = child::Part { places: FEW, ..part_in(&test, DatabaseEngine::Postgres, &world) };
    let people = People::gather(&shop, &world, &random);
    let parent = child::app(&test.db, Arc::new(SystemClock), world.port, FEW.0);
    let enough = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let errands = begin_errands(test.db.clone(), &shop, parent.engine.run_starter(), &random, &enough);
    let happens = async {
        let (staying, killed) = tokio::join!(start(&part), start(&part));
        people.door(&[staying.port, killed.port]);
        tokio::time::sleep(MOMENT).await;
        let killed_at = Instant::now();
        people.door(&[staying.port]);
        killed.kill();
        tokio::time::sleep(MOMENT).await;
        let stopped = start(&part).await;
        people.door(&[staying.port, stopped.port]);
        tokio::time::sleep(MOMENT).await;
        let stopped_at = Instant::now();
        signal(&stopped, "-STOP");
        // People still come to the door of the one that stands still, and go to the other after a while.
        let later = stand_still(&staying).await;
        people.door(&[staying.port]);
        let continued_at = Instant::now();
        signal(&stopped, "-CONT");
        // It goes by the old time for a moment, and believes that it holds what others have long taken up.
        tokio::time::sleep(Duration::from_millis(200)).await;
        people::set_later(stopped.port, later).await.unwrap();
        people.door(&[staying.port, stopped.port]);
        tokio::time::sleep(MOMENT).await;
        people.enough();
        enough.store(true, std::sync::atomic::Ordering::SeqCst);
        let sent =
            tokio::time::timeout(PATIENCE, people.done()).await.expect("somebody's message is never taken");
        (sent, (killed_at, stopped_at, continued_at), (staying, stopped), later)
    };
    let (work, (sent, (killed_at, stopped_at, continued_at), nodes, later)) = tokio::join!(errands, happens);
    let ended = tokio::time::timeout(PATIENCE, verdict::until_quiet(&test.db, shop.tenant)).await;
    nodes.0.kill();
    nodes.1.kill();
    let seen = verdict::look(&test.db, shop.tenant).await;
    assert!(ended.is_ok(), "it never comes to rest: {:?}", seen.unfinished());
    let figures = verdict::judge(&seen, &sent, &world);
    verdict::judge_work(&seen, &work, &world);
    verdict::books(&test.db, shop.tenant, &seen, SystemClock.now().plus(Duration::from_secs(later))).await;
    println!(
        "two nodes: of those who waited, the last was answered {:?} after the kill and {:?} after the stop (it stood still for {:?}); \
         {} errands; {figures}",
        longest_wait(&sent, &world, killed_at),
        longest_wait(&sent, &world, stopped_at),
        continued_at - stopped_at,
        work.len(),
    );
}

/// Until the leases of the one that stands still have passed. Gives by how much the other's clock has jumped.
async fn stand_still(staying: &Living) -> u64 {
    if has_time() {
        tokio::time::sleep(Duration::from_secs(LONG)).await;
        return 0;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    people::set_later(staying.port, LONG).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    LONG
}
