//! Two processes on one Postgres, few places, people who write and work that nobody typed. One process is killed; one stands still for longer
//! than its leases and then goes on as if nothing had been: cut off, but living. Every message is answered once, everything is done once.
//!
//! Not here: tools that are only looked up (`Effect::Checked`). A process that stands still between the permit and the call, while another looks,
//! finds nothing and calls, makes its own call when it goes on: without a key the other side can't tell them apart.

use std::sync::Arc;
use std::time::{Duration, Instant};

use munshi_agent::background::{NewBackgroundRun, RunQueue};
use munshi_conversations::runs::RunCause;
use munshi_pack::RunDelegator;
use munshi_safety::pipeline::CallerAudience;
use munshi_store::{Db, PlatformTx, Result, Tx, across_tenants, params};
use munshi_test_support::{DatabaseEngine, PATIENCE, TestDb};
use munshi_types::{Clock, HolderId, Random, SeededRandom, SystemClock, SystemRandom, TenantId};

use crate::killed::child::{self, ERRAND, ErrandInput};
use crate::killed::outside::World;
use crate::killed::people::{Message, People, Sent};
use crate::killed::shop::Shop;
use crate::killed::{Living, found, part_in, start, verdict};

/// Messages and runs in the background that a process works on at once.
const FEW: (usize, usize) = (4, 2);
/// Longer than any lease: runs are held for 30 s, acts for 44 s.
const LONG: Duration = Duration::from_secs(60);
/// What the other side can tell apart, what is never repeated, and what only looks.
const TOLD_APART: [&str; 5] = ["count", "fetch", "note", "book", "fax"];
/// So long people write before something happens to a process, and after it.
const MOMENT: Duration = Duration::from_millis(500);

/// It takes about ten seconds where there is no time; after this it tells who waits for whom.
const SLOW: Duration = Duration::from_secs(15);

/// Whether there is time: then a process stands still for as long as leases really last. Else those of its runs are made to pass.
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
        let at = Instant::now();
        let run = loop {
            let (run_queue, new, by) = (run_queue.clone(), new.clone(), by.clone());
            let begun = db.write(shop.tenant, move |tx| match is_theirs {
                true => run_queue.delegate(tx, &new, &by),
                false => run_queue.begin(tx, &new),
            });
            match begun.await {
                Ok(begun) => break begun.run,
                // Who stands still may do so in the middle of a transaction.
                Err(
                    munshi_conversations::Error::Store(error)
                    | munshi_conversations::Error::Safety(munshi_safety::Error::Store(error)),
                ) if error.is_retryable() => {}
                Err(error) => panic!("{error}"),
            }
        };
        work.push(Message { parcel, tools, run, at });
        tokio::time::sleep(Duration::from_millis(20 + random.next_below(60))).await;
    }
    work
}

/// Some of our own, and then one elsewhere: after that, what nobody typed writes nothing more unasked.
fn some_tools(random: &SeededRandom) -> Vec<&'static str> {
    let here = ["count", "note"].into_iter().filter(|_| random.next_below(2) == 0);
    let elsewhere = ["fetch", "book", "fax"];
    let last = elsewhere[usize::try_from(random.next_below(3)).unwrap()];
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
    let part = child::Part { places: FEW, job_lease: 3, ..part_in(&test, DatabaseEngine::Postgres, &world) };
    let people = People::gather_with(&shop, &world, &random, &TOLD_APART);
    let parent = child::app(&test.db, Arc::new(SystemClock), world.port, FEW.0);
    // Writes to a tenant through one handle wait for each other, and one may wait for the process that stands still.
    let beside = test.open_again().await;
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
        println!("two nodes: {} stays, {} stops", staying.child.id(), stopped.child.id());
        signal(&stopped, "-STOP");
        // People still come to the door of the one that stands still, and go to the other after a while.
        stand_still(&beside, shop.tenant, &stopped).await;
        let continued_at = Instant::now();
        // It believes that it holds what the other has long taken up.
        signal(&stopped, "-CONT");
        people.door(&[staying.port, stopped.port]);
        tokio::time::sleep(MOMENT).await;
        people.enough();
        enough.store(true, std::sync::atomic::Ordering::SeqCst);
        let sent =
            tokio::time::timeout(PATIENCE, people.done()).await.expect("somebody's message is never taken");
        (sent, (killed_at, stopped_at, continued_at), (staying, stopped))
    };
    let all = async {
        let happened = tokio::join!(errands, happens);
        (happened, tokio::time::timeout(PATIENCE, verdict::until_quiet(&test.db, shop.tenant)).await)
    };
    let ((work, (sent, (killed_at, stopped_at, continued_at), nodes)), ended) = tokio::select! {
        ended = all => ended,
        () = tell_who_waits(&test) => unreachable!("it tells for ever"),
    };
    nodes.0.kill();
    nodes.1.kill();
    let seen = verdict::look(&test.db, shop.tenant).await;
    assert!(ended.is_ok(), "it never comes to rest: {:?}", seen.unfinished());
    print_repeats(&world, [killed_at, stopped_at, continued_at]);
    let figures = verdict::judge(&seen, &sent, &world);
    verdict::judge_work(&seen, &work, &world);
    verdict::books(&test.db, shop.tenant, &seen, SystemClock.now()).await;
    println!(
        "two nodes: of those who waited, the last was answered {:?} after the kill and {:?} after the stop (it stood still for {:?}); \
         {} errands; {figures}",
        longest_wait(&sent, &world, killed_at),
        longest_wait(&sent, &world, stopped_at),
        continued_at - stopped_at,
        work.len(),
    );
}

/// What is not done yet: runs with who holds them, and acts with who may take them over when.
const OPEN_WORK: &str = "SELECT format('run %s %s epoch %s of process %s until %s', r.id, r.state, r.epoch, h.pid, r.lease_until)
    FROM runs r LEFT JOIN run_holders h ON h.id = r.holder WHERE r.ended_at IS NULL
  UNION ALL SELECT format('act %s %s attempt %s of run %s until %s', a.tool, a.state, a.attempt, a.run_id, l.lease_until)
    FROM act_leases l JOIN acts a ON a.id = l.act_id
  UNION ALL SELECT format('job %s %s attempt %s of %s at %s until %s: %s', kind, state, attempt, worker, run_at,
    lease_until, last_error)
    FROM jobs WHERE state <> 'done'";

/// Once it has taken longer than it should: who holds what others wait for, every two seconds.
async fn tell_who_waits(test: &TestDb) {
    tokio::time::sleep(SLOW).await;
    loop {
        println!("two nodes at {}:", SystemClock.now());
        let transactions = test.place.list_open_transactions();
        transactions.iter().for_each(|line| println!("  {line}"));
        test.place.read_lines_as_superuser(OPEN_WORK).iter().for_each(|line| println!("  {line}"));
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

/// What came to the world more than once, and when: since the kill, the stop and the going on.
fn print_repeats(world: &World, moments: [Instant; 3]) {
    let ledger = world.ledger.lock().unwrap();
    for (what, times) in ledger.happened_at.iter().filter(|(_, times)| times.len() > 1) {
        let since = |at: &Instant| moments.map(|moment| at.saturating_duration_since(moment).as_millis());
        println!("two nodes: {what:?} came at {:?} ms", times.iter().map(since).collect::<Vec<_>>());
    }
}

/// Until the leases of the one that stands still have passed.
async fn stand_still(db: &Db, tenant: TenantId, stopped: &Living) {
    if has_time() {
        return tokio::time::sleep(LONG).await;
    }
    // By its own measure its calls of tools have taken too long by then, as they have whenever a lease has passed.
    tokio::time::sleep(Duration::from_millis(2_300)).await;
    let pid = i64::from(stopped.child.id());
    let find = move |tx: &mut PlatformTx<'_>| {
        let sql = "SELECT id FROM run_holders WHERE pid = $1";
        tx.all(across_tenants(sql), params![pid], |row| row.get::<HolderId>(0))
    };
    let passed = SystemClock.now().minus(Duration::from_secs(10));
    for holder in db.platform(munshi_conversations::RUNS).read(find).await.unwrap() {
        let age = move |tx: &mut Tx<'_>| -> Result<()> {
            // A transaction that stands still with it keeps its rows; those pass later. Sweeps look at its acts from now on, but the
            // acts' own leases last: whoever takes up the run must take them over.
            tx.execute(
                "UPDATE act_leases SET lease_until = $3 WHERE tenant_id = $1 AND act_id IN (
                   SELECT l.act_id FROM act_leases l JOIN acts a ON a.tenant_id = $1 AND a.id = l.act_id
                     JOIN runs r ON r.tenant_id = $1 AND r.id = a.run_id
                   WHERE l.tenant_id = $1 AND r.holder = $2 FOR UPDATE OF l SKIP LOCKED)",
                params![holder, passed],
            )?;
            tx.execute(
                "UPDATE runs SET lease_until = $3 WHERE tenant_id = $1 AND id IN (
                   SELECT id FROM runs WHERE tenant_id = $1 AND holder = $2 AND lease_until > $3 FOR UPDATE SKIP LOCKED)",
                params![holder, passed],
            )?;
            Ok(())
        };
        db.write(tenant, age).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(1_200)).await;
}
