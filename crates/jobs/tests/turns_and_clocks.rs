//! What a careful reader found: kinds and clocks, lost answers, stops.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{EFFECTS, Log, enqueue, jobs_in, logging, note, queue, quick, runner, system_queue};
use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_jobs::{JOBS, JobFailure, JobKind, JobRegistry, JobRunnerOptions, JobState, NewJob};
use munshi_store::{DatabaseAddress, Db, MIGRATIONS, across_tenants, params};
use munshi_test_support::database::server_url;
use munshi_test_support::proxy::Proxy;
use munshi_test_support::{DatabaseEngine, TestDb, wait_until};
use munshi_types::{Clock, TenantId, Timestamp, Zone};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

async fn open(engine: DatabaseEngine) -> TestDb {
    TestDb::open(engine, &[MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS]).await
}

async fn many(
    test: &TestDb,
    tenant: TenantId,
    kind: &'static str,
    state: &'static str,
    at: Timestamp,
    count: i64,
) {
    let text = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $3)
         INSERT INTO jobs (id, tenant_id, kind, priority, payload, state, run_at, attempt, max_attempts, created_at)
         SELECT randomblob(16), $1, $4, 1, '\"b\"', $5, $2, 0, 8, $2 FROM n";
    let _: u64 = test
        .db
        .platform(JOBS)
        .write(move |tx| tx.execute(across_tenants(text), params![tenant, at, count, kind, state]))
        .await
        .map_err(|e: munshi_store::Error| e)
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_of_one_kind_starves_no_tenant_of_another_kind() {
    let test = open(DatabaseEngine::Sqlite).await;
    let (big, small, queue) = (test.add_tenant("big").await, test.add_tenant("small").await, queue(&test));
    let at = test.clock.now().minus(Duration::from_secs(3600));
    many(&test, big, "aaa", "ready", at, 5000).await;
    for _ in 0..3 {
        enqueue(&test.db, &queue, small, NewJob::new("zzz", &"s").unwrap()).await;
    }
    let order: Arc<Mutex<Vec<TenantId>>> = Arc::default();
    let stop = CancellationToken::new();
    let mut registry = JobRegistry::default();
    for kind in ["aaa", "zzz"] {
        let (order, stop) = (order.clone(), stop.clone());
        registry.add(JobKind::new(kind), move |job| {
            let mut order = order.lock().unwrap();
            order.push(job.tenant);
            if order.len() >= 1000 {
                stop.cancel();
            }
            async { Ok(()) }
        });
    }
    runner(&test.db, &queue, registry, JobRunnerOptions { workers: 4, ..quick() }).run(stop).await;
    let ran = order.lock().unwrap().iter().filter(|id| **id == small).count();
    assert_eq!(ran, 3, "of the small tenant's three jobs {ran} ran among the first 1000");
}

#[tokio::test(flavor = "multi_thread")]
async fn four_tenants_share_five_workers_evenly() {
    let test = open(DatabaseEngine::Sqlite).await;
    let queue = queue(&test);
    let at = test.clock.now().minus(Duration::from_secs(3600));
    let mut names = BTreeMap::new();
    for n in 0..4 {
        let t = test.add_tenant(&format!("shop-{n}")).await;
        names.insert(t, 0);
        many(&test, t, "note", "ready", at, 100).await;
    }
    let order: Arc<Mutex<Vec<TenantId>>> = Arc::default();
    let (mut registry, inner) = (JobRegistry::default(), order.clone());
    registry.add(JobKind::new("note"), move |job| {
        inner.lock().unwrap().push(job.tenant);
        async { Ok(()) }
    });
    runner(&test.db, &queue, registry, JobRunnerOptions { workers: 5, ..quick() }).drain().await.unwrap();
    for t in order.lock().unwrap().iter().take(200) {
        *names.get_mut(t).unwrap() += 1;
    }
    assert!(
        names.values().all(|c| *c >= 40),
        "first 200 by tenant: {:?}",
        names.values().collect::<Vec<_>>()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_panics_before_its_first_await_has_failed_too() {
    let test = open(DatabaseEngine::Sqlite).await;
    let (tenant, queue) = (test.add_tenant("shop").await, queue(&test));
    let mut registry = JobRegistry::default();
    registry.add(JobKind::new("note").limit(1), |job| {
        assert_ne!(job.kind, "note", "on purpose");
        async { Ok(()) }
    });
    enqueue(&test.db, &queue, tenant, note("x").attempts(1)).await;
    enqueue(&test.db, &queue, tenant, note("y").attempts(1)).await;
    runner(&test.db, &queue, registry, quick()).drain().await.unwrap();
    let (dead, running, ready) = (
        jobs_in(&test.db, JobState::Dead).await,
        jobs_in(&test.db, JobState::Running).await,
        jobs_in(&test.db, JobState::Ready).await,
    );
    assert_eq!(dead.len(), 2, "dead {} running {} ready {}", dead.len(), running.len(), ready.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_does_not_run_a_live_job_twice_here() {
    let test = open(DatabaseEngine::Sqlite).await;
    let (tenant, queue, runs, told, at_once, most) = (
        test.add_tenant("shop").await,
        queue(&test),
        Arc::new(AtomicU32::new(0)),
        Arc::new(AtomicU32::new(0)),
        Arc::new(AtomicU32::new(0)),
        Arc::new(AtomicU32::new(0)),
    );
    let (mut registry, r, t, a, m) =
        (JobRegistry::default(), runs.clone(), told.clone(), at_once.clone(), most.clone());
    registry.add(JobKind::new("note"), move |job| {
        let (r, t, a, m) = (r.clone(), t.clone(), a.clone(), m.clone());
        async move {
            r.fetch_add(1, Ordering::SeqCst);
            m.fetch_max(a.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::select! {
                () = job.cancelled.cancelled() => { t.fetch_add(1, Ordering::SeqCst); }
                () = tokio::time::sleep(Duration::from_secs(5)) => {}
            }
            a.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        }
    });
    enqueue(&test.db, &queue, tenant, note("x")).await;
    let stop = CancellationToken::new();
    let runner = runner(
        &test.db,
        &queue,
        registry,
        JobRunnerOptions { lease: Duration::from_millis(900), poll: Duration::from_millis(50), ..quick() },
    );
    tokio::join!(runner.run(stop.clone()), async {
        wait_until(async || runs.load(Ordering::SeqCst) == 1).await;
        test.clock.advance(Duration::from_secs(3));
        tokio::time::sleep(Duration::from_millis(2500)).await;
        // Nobody has taken it up a second time, unless the first was told to leave off.
        wait_until(async || runs.load(Ordering::SeqCst) == 1 || told.load(Ordering::SeqCst) >= 1).await;
        stop.cancel();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_are_kept_during_the_grace() {
    let test = open(DatabaseEngine::Sqlite).await;
    let (tenant, queue, runs) = (test.add_tenant("shop").await, system_queue(), Arc::new(AtomicU32::new(0)));
    let (mut registry, r) = (JobRegistry::default(), runs.clone());
    registry.add(JobKind::new("note"), move |_| {
        r.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(Duration::from_millis(3000)).await;
            Ok(())
        }
    });
    enqueue(&test.db, &queue, tenant, note("long")).await;
    let options = JobRunnerOptions {
        lease: Duration::from_millis(2000),
        poll: Duration::from_millis(50),
        grace: Duration::from_secs(60),
        ..JobRunnerOptions::default()
    };
    let (stop1, stop2) = (CancellationToken::new(), CancellationToken::new());
    let one = runner(&test.db, &queue, registry.clone(), options.clone());
    let two = runner(&test.open_again().await, &system_queue(), registry, options);
    tokio::join!(one.run(stop1.clone()), async {
        while runs.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop1.cancel();
        tokio::join!(two.run(stop2.clone()), async {
            tokio::time::sleep(Duration::from_millis(3500)).await;
            stop2.cancel();
        });
    });
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_survives_a_clock_that_was_wrong_for_a_while() {
    let test = open(DatabaseEngine::Sqlite).await;
    let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
    let s = || Schedule::new("morning", "note", &"x", ScheduleRule::cron("0 9 * * *").unwrap()).unwrap();
    let set = async |now| {
        let s = s();
        test.db.write(tenant, move |tx| schedule::set(tx, &s, &Zone::default(), now)).await.unwrap();
    };
    let right = test.clock.now();
    set(right).await;
    let runner = runner(&test.db, &queue, logging(&log), quick());
    test.clock.advance(Duration::from_secs(3650 * 86_400));
    runner.drain().await.unwrap();
    test.clock.set(right);
    log.lock().unwrap().clear();
    for _ in 0..10 {
        test.clock.advance(Duration::from_secs(86_400));
        set(test.clock.now()).await;
        runner.drain().await.unwrap();
    }
    assert_eq!(log.lock().unwrap().len(), 9, "set again on the first morning, it fires on the nine after it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_whose_answer_was_lost_is_taken_back() {
    let test = open(DatabaseEngine::Postgres).await;
    let (tenant, q) = (test.add_tenant("shop").await, system_queue());
    let server: SocketAddr =
        server_url().split_once('@').unwrap().1.split_once('/').unwrap().0.parse().unwrap();
    let proxy = Proxy::start(server).await;
    let address: DatabaseAddress = test
        .place
        .postgres_url("munshi_owner")
        .replace(&server.to_string(), &proxy.address.to_string())
        .parse()
        .unwrap();
    let db = Db::open(&address, &test.options, &test.migrations).await.unwrap();
    let ran: Log = Log::default();
    let (mut registry, inner) = (JobRegistry::default(), ran.clone());
    registry.add(JobKind::new("note"), move |job| {
        let inner = inner.clone();
        async move {
            let what: String = job.read()?;
            inner.lock().unwrap().push(what.clone());
            if what == "long" {
                std::future::pending::<()>().await;
            }
            Ok::<(), JobFailure>(())
        }
    });
    let options =
        JobRunnerOptions { lease: Duration::from_millis(1500), poll: Duration::from_millis(100), ..quick() };
    let (stop, runner) = (CancellationToken::new(), runner(&db, &q, registry, options));
    tokio::join!(runner.run(stop.clone()), async {
        enqueue(&test.db, &q, tenant, note("long")).await;
        while ran.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        proxy.cut_after_commit();
        enqueue(&test.db, &q, tenant, note("short")).await;
        while jobs_in(&test.db, JobState::Running).await.len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        proxy.restore();
        wait_until(async || ran.lock().unwrap().contains(&"short".to_owned())).await;
        stop.cancel();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unique_job_can_be_enqueued_while_its_twin_ends() {
    let test = open(DatabaseEngine::Postgres).await;
    let (tenant, q) = (test.add_tenant("shop").await, system_queue());
    let log = Log::default();
    let stop = CancellationToken::new();
    let r =
        runner(&test.db, &q, logging(&log), JobRunnerOptions { poll: Duration::from_millis(20), ..quick() });
    let errors: Arc<Mutex<Vec<String>>> = Arc::default();
    tokio::join!(r.run(stop.clone()), async {
        let mut set = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let (db, q, errors) = (test.db.clone(), q.clone(), errors.clone());
            set.spawn(async move {
                for _ in 0..700 {
                    let q = q.clone();
                    if let Err(e) = db.write(tenant, move |tx| q.enqueue(tx, &note("u").unique("k"))).await {
                        errors.lock().unwrap().push(e.to_string());
                    }
                }
            });
        }
        set.join_all().await;
        stop.cancel();
    });
    let e = errors.lock().unwrap();
    assert!(e.is_empty(), "{} of 2800 failed, such as: {}", e.len(), e[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn due_jobs_of_a_small_tenant_do_not_wait_behind_a_backlog() {
    let test = open(DatabaseEngine::Sqlite).await;
    let (big, small, queue, log) =
        (test.add_tenant("big").await, test.add_tenant("small").await, queue(&test), Log::default());
    many(&test, big, "unknown", "scheduled", test.clock.now(), 20_000).await;
    enqueue(&test.db, &queue, small, note("small").run_at(test.clock.now().plus(Duration::from_secs(1))))
        .await;
    test.clock.advance(Duration::from_secs(2));
    let stop = CancellationToken::new();
    // One look is enough, however much it finds: no other comes within the hour.
    let r = runner(
        &test.db,
        &queue,
        logging(&log),
        JobRunnerOptions { poll: Duration::from_secs(3600), ..quick() },
    );
    tokio::join!(r.run(stop.clone()), async {
        wait_until(async || !log.lock().unwrap().is_empty()).await;
        stop.cancel();
    });
    assert_eq!(*log.lock().unwrap(), ["small"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn acting_as_a_tenant_shuts_the_door() {
    let test = open(DatabaseEngine::Postgres).await;
    let (a, b, q) = (test.add_tenant("a").await, test.add_tenant("b").await, queue(&test));
    enqueue(&test.db, &q, a, note("a's")).await;
    let seen: i64 = test
        .db
        .platform(JOBS)
        .read(move |tx| {
            tx.as_tenant(b, |tx| {
                tx.one("SELECT count(*) FROM jobs WHERE $1::uuid IS NOT NULL", &[], |r| r.get(0))
            })
        })
        .await
        .map_err(|e: munshi_store::Error| e)
        .unwrap();
    assert_eq!(seen, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_leaves_off_when_told_is_not_done() {
    let test = open(DatabaseEngine::Sqlite).await;
    let (tenant, q) = (test.add_tenant("a").await, queue(&test));
    let mut registry = JobRegistry::default();
    registry.add(JobKind::new("note"), |job| async move {
        job.cancelled.cancelled().await;
        Ok(())
    });
    enqueue(&test.db, &q, tenant, note("x")).await;
    let stop = CancellationToken::new();
    let r = runner(&test.db, &q, registry, quick());
    tokio::join!(r.run(stop.clone()), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.cancel();
    });
    assert!(jobs_in(&test.db, JobState::Done).await.is_empty(), "left off, yet done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_that_fired_in_the_future_wakes_without_being_set_again() {
    let test = open(DatabaseEngine::Sqlite).await;
    let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
    let beat =
        Schedule::new("beat", "note", &"x", ScheduleRule::every(Duration::from_secs(3600)).unwrap()).unwrap();
    let right = test.clock.now();
    test.db.write(tenant, move |tx| schedule::set(tx, &beat, &Zone::default(), right)).await.unwrap();
    let runner = runner(
        &test.db,
        &queue,
        logging(&log),
        JobRunnerOptions { poll: Duration::from_millis(50), ..quick() },
    );
    test.clock.advance(Duration::from_secs(3650 * 86_400));
    runner.drain().await.unwrap();
    test.clock.set(right);
    log.lock().unwrap().clear();
    let stop = CancellationToken::new();
    tokio::join!(runner.run(stop.clone()), async {
        wait_until(async || !log.lock().unwrap().is_empty()).await;
        stop.cancel();
    });
}
