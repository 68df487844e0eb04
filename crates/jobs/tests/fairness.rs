//! Limits, turns between tenants, many runners at once, and stopping.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{EFFECTS, Log, enqueue, jobs_in, logging, note, queue, quick, runner, system_queue};
use munshi_jobs::{JOBS, JobFailure, JobKind, JobRegistry, JobRunnerOptions, JobState, NewJob};
use munshi_store::{MIGRATIONS, across_tenants, params};
use munshi_test_support::{TestDb, on_both_engines, wait_until};
use munshi_types::{Clock, TenantId};
use tokio_util::sync::CancellationToken;

/// A backlog in one statement.
async fn backlog(test: &TestDb, tenant: TenantId, count: i64) {
    let text = (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $3)
         INSERT INTO jobs (id, tenant_id, kind, priority, payload, state, run_at, attempt, max_attempts, created_at)
         SELECT randomblob(16), $1, 'note', 1, '\"backlog\"', 'ready', $2, 0, 8, $2 FROM n",
        "INSERT INTO jobs (id, tenant_id, kind, priority, payload, state, run_at, attempt, max_attempts, created_at)
         SELECT gen_random_uuid(), $1, 'note', 1, '\"backlog\"', 'ready', $2, 0, 8, $2 FROM generate_series(1, $3)",
    );
    let at = test.clock.now().minus(Duration::from_secs(3600));
    let work = move |tx: &mut munshi_store::PlatformTx<'_>| {
        tx.execute(across_tenants(text), params![tenant, at, count])
    };
    let added: u64 = test
        .db
        .platform(JOBS)
        .write(work)
        .await
        .unwrap_or_else(|error: munshi_store::Error| panic!("{error}"));
    assert_eq!(added, u64::try_from(count).unwrap());
}

/// A kind that counts how many of it run at once.
fn counting(kind: JobKind, now: &Arc<AtomicU32>, most: &Arc<AtomicU32>, registry: &mut JobRegistry) {
    let (now, most) = (now.clone(), most.clone());
    registry.add(kind, move |_| {
        let (now, most) = (now.clone(), most.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        }
    });
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS];

    async fn a_hundred_thousand_jobs_do_not_starve_three(test: TestDb) {
        let (big, small, queue) = (test.add_tenant("big").await, test.add_tenant("small").await, queue(&test));
        backlog(&test, big, 100_000).await;
        for number in 0..3 {
            enqueue(&test.db, &queue, small, note(&format!("small {number}"))).await;
        }
        let order: Arc<Mutex<Vec<TenantId>>> = Arc::default();
        let (inner, stop) = (order.clone(), CancellationToken::new());
        let (mut registry, enough) = (JobRegistry::default(), stop.clone());
        registry.add(JobKind::new("note"), move |job| {
            let mut order = inner.lock().unwrap();
            order.push(job.tenant);
            if order.len() >= 40 {
                enough.cancel();
            }
            async { Ok(()) }
        });
        let options = JobRunnerOptions { workers: 4, ..quick() };
        runner(&test.db, &queue, registry, options).run(stop).await;
        let order = order.lock().unwrap();
        let places: Vec<usize> = order.iter().enumerate().filter(|(_, id)| **id == small).map(|(at, _)| at).collect();
        assert!(places.len() == 3 && places[2] < 12, "the small tenant's jobs ran as numbers {places:?}");
    }

    async fn many_tenants_take_turns(test: TestDb) {
        let queue = queue(&test);
        let mut names = BTreeMap::new();
        for number in 0..12 {
            let tenant = test.add_tenant(&format!("shop-{number}")).await;
            names.insert(tenant, 0);
            backlog(&test, tenant, 50).await;
        }
        let order: Arc<Mutex<Vec<TenantId>>> = Arc::default();
        let (mut registry, inner) = (JobRegistry::default(), order.clone());
        registry.add(JobKind::new("note"), move |job| {
            inner.lock().unwrap().push(job.tenant);
            async { Ok(()) }
        });
        let one_round = runner(&test.db, &queue, registry, JobRunnerOptions { workers: 5, ..quick() });
        one_round.drain().await.unwrap();
        for tenant in order.lock().unwrap().iter().take(60) {
            *names.get_mut(tenant).unwrap() += 1;
        }
        assert!(names.values().all(|count| (4..=6).contains(count)), "{names:?}");
    }

    async fn a_kind_keeps_to_its_limit_and_others_go_on(test: TestDb) {
        let (tenant, queue) = (test.add_tenant("shop").await, system_queue());
        let (a_now, a_most, b_now, b_most) = <(Arc<AtomicU32>, Arc<AtomicU32>, Arc<AtomicU32>, Arc<AtomicU32>)>::default();
        let mut registry = JobRegistry::default();
        counting(JobKind::new("narrow").limit(2), &a_now, &a_most, &mut registry);
        counting(JobKind::new("wide"), &b_now, &b_most, &mut registry);
        for _ in 0..20 {
            enqueue(&test.db, &queue, tenant, NewJob::new("narrow", &()).unwrap()).await;
            enqueue(&test.db, &queue, tenant, NewJob::new("wide", &()).unwrap()).await;
        }
        let stop = CancellationToken::new();
        let runner = runner(&test.db, &queue, registry, JobRunnerOptions { workers: 6, grace: Duration::from_secs(5), ..JobRunnerOptions::default() });
        tokio::join!(runner.run(stop.clone()), async {
            while jobs_in(&test.db, JobState::Done).await.len() < 40 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            stop.cancel();
        });
        assert_eq!(a_most.load(Ordering::SeqCst), 2);
        assert!((3..=6).contains(&b_most.load(Ordering::SeqCst)), "{b_most:?}");
    }

    async fn a_kind_beside_the_workers_takes_none_and_is_shared_by_tenants(test: TestDb) {
        let (slow, other, queue, log) = (test.add_tenant("slow").await, test.add_tenant("other").await, queue(&test), Log::default());
        for tenant in [slow, slow, slow, slow, slow, slow, other] {
            enqueue(&test.db, &queue, tenant, NewJob::new("send", &()).unwrap()).await;
        }
        for text in ["one", "two"] {
            enqueue(&test.db, &queue, slow, note(text)).await;
        }
        let (sent, gate): (Arc<Mutex<Vec<TenantId>>>, _) = (Arc::default(), Arc::new(tokio::sync::Semaphore::new(0)));
        let (mut registry, inner, held) = (logging(&log), sent.clone(), gate.clone());
        registry.add(JobKind::new("send").beside_workers(4), move |job| {
            let (sent, gate) = (inner.clone(), held.clone());
            async move {
                sent.lock().unwrap().push(job.tenant);
                gate.acquire().await.unwrap().forget();
                Ok(())
            }
        });
        let runner = runner(&test.db, &queue, registry, JobRunnerOptions { workers: 2, ..quick() });
        let mut running = tokio::task::JoinSet::new();
        running.spawn(async move { runner.drain().await.unwrap() });
        wait_until(async || sent.lock().unwrap().len() == 4 && log.lock().unwrap().len() == 2).await;
        assert!(sent.lock().unwrap().contains(&other), "nobody takes all of them");
        gate.add_permits(7);
        running.join_next().await.unwrap().unwrap();
        assert_eq!(sent.lock().unwrap().len(), 7);
    }

    async fn many_runners_share_the_work_and_double_none(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        for number in 0..300 {
            enqueue(&test.db, &queue, tenant, note(&format!("{number:03}"))).await;
        }
        let mut runners = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let runner = runner(&test.open_again().await, &queue, logging(&log), quick());
            runners.spawn(async move { runner.drain().await.unwrap() });
        }
        let shares = runners.join_all().await;
        assert_eq!(shares.iter().sum::<usize>(), 300);
        let mut ran = log.lock().unwrap().clone();
        ran.sort();
        ran.dedup();
        assert_eq!(ran.len(), 300);
    }

    async fn a_wake_up_needs_no_poll(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, system_queue(), Log::default());
        let stop = CancellationToken::new();
        let runner = runner(&test.db, &queue, logging(&log), JobRunnerOptions { poll: Duration::from_secs(3600), ..quick() });
        tokio::join!(runner.run(stop.clone()), async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            enqueue(&test.db, &queue, tenant, note("now")).await;
            wait_until(async || !log.lock().unwrap().is_empty()).await;
            stop.cancel();
        });
    }

    async fn a_lost_wake_up_is_made_good_by_the_poll(test: TestDb) {
        let (tenant, log) = (test.add_tenant("shop").await, Log::default());
        let stop = CancellationToken::new();
        let poll = JobRunnerOptions { poll: Duration::from_millis(50), ..quick() };
        let runner = runner(&test.db, &system_queue(), logging(&log), poll);
        tokio::join!(runner.run(stop.clone()), async {
            // Another process's queue can't wake this runner.
            enqueue(&test.db, &system_queue(), tenant, note("elsewhere")).await;
            wait_until(async || !log.lock().unwrap().is_empty()).await;
            stop.cancel();
        });
    }

    async fn a_long_job_keeps_its_lease(test: TestDb) {
        let (tenant, queue, runs) = (test.add_tenant("shop").await, system_queue(), Arc::new(AtomicU32::new(0)));
        let (mut registry, inner) = (JobRegistry::default(), runs.clone());
        registry.add(JobKind::new("note"), move |_| {
            inner.fetch_add(1, Ordering::SeqCst);
            async { tokio::time::sleep(Duration::from_millis(2500)).await; Ok(()) }
        });
        enqueue(&test.db, &queue, tenant, note("long")).await;
        let options = JobRunnerOptions { lease: Duration::from_millis(1500), poll: Duration::from_millis(100), ..JobRunnerOptions::default() };
        let stop = CancellationToken::new();
        let (one, two) = (
            runner(&test.db, &queue, registry.clone(), options.clone()),
            runner(&test.open_again().await, &queue, registry, options),
        );
        tokio::join!(one.run(stop.clone()), two.run(stop.clone()), async {
            while jobs_in(&test.db, JobState::Done).await.is_empty() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            stop.cancel();
        });
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }

    async fn stopping_lets_jobs_finish_and_puts_the_rest_back(test: TestDb) {
        let (tenant, queue) = (test.add_tenant("shop").await, queue(&test));
        let mut registry = JobRegistry::default();
        registry.add(JobKind::new("brief"), |_| async { tokio::time::sleep(Duration::from_millis(150)).await; Ok(()) });
        registry.add(JobKind::new("endless"), |_| std::future::pending::<Result<(), JobFailure>>());
        for kind in ["brief", "endless"] {
            enqueue(&test.db, &queue, tenant, NewJob::new(kind, &()).unwrap()).await;
        }
        let stop = CancellationToken::new();
        let runner = runner(&test.db, &queue, registry, JobRunnerOptions { grace: Duration::from_secs(2), ..JobRunnerOptions::default() });
        tokio::join!(runner.run(stop.clone()), async {
            while jobs_in(&test.db, JobState::Running).await.len() < 2 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            stop.cancel();
        });
        assert_eq!(jobs_in(&test.db, JobState::Done).await.len(), 1);
        let (ready, waiting) = (jobs_in(&test.db, JobState::Ready).await, jobs_in(&test.db, JobState::Scheduled).await);
        assert_eq!(ready.len() + waiting.len(), 1, "{ready:?} {waiting:?}");
        assert_eq!(ready.iter().chain(&waiting).map(|job| job.attempt).collect::<Vec<_>>(), [0], "a cut try does not count");
    }
}
