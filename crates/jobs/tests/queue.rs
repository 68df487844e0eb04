//! Jobs go in with their transaction, run, fail, are tried again, and end.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::support::{
    EFFECTS, Log, effect, effects, enqueue, jobs_in, logging, note, passing, queue, quick, runner,
};
use munshi_jobs::{
    EnqueueOutcome, Error, JOBS, JobFailure, JobKind, JobRegistry, JobState, NewJob, Priority, Result,
    dead_letters,
};
use munshi_store::{MIGRATIONS, PlatformTx};
use munshi_test_support::{administer_platform, on_both_engines, wait_until};
use munshi_types::{Clock, TenantStatus, Timestamp};

/// As an operation does it.
macro_rules! administered {
    ($test:expr, |$tx:ident| $body:expr) => {
        $test
            .db
            .platform(JOBS)
            .write(move |tx: &mut PlatformTx<'_>| -> Result<_> { administer_platform(tx, |$tx| $body) })
            .await
    };
}

/// A kind that fails as told and counts its tries.
fn failing(tries: &Arc<AtomicU32>, failure: JobFailure) -> JobRegistry {
    let (mut registry, tries) = (JobRegistry::default(), tries.clone());
    registry.add(JobKind::new("note"), move |_| {
        tries.fetch_add(1, Ordering::SeqCst);
        let failure = failure.clone();
        async move { Err(failure) }
    });
    registry
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS];

    async fn a_job_exists_if_and_only_if_its_transaction_does(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        let copy = queue.clone();
        let undone: Result<()> = test.db.write(tenant, move |tx| {
            copy.enqueue(tx, &note("never"))?;
            Err(munshi_store::Error::Misuse("changed my mind".to_owned()).into())
        }).await;
        assert!(undone.is_err());
        enqueue(&test.db, &queue, tenant, note("once")).await;
        let runner = runner(&test.db, &queue, logging(&log), quick());
        assert_eq!(runner.drain().await.unwrap(), 1);
        assert_eq!(runner.drain().await.unwrap(), 0);
        assert_eq!(*log.lock().unwrap(), ["once"]);
        assert_eq!(jobs_in(&test.db, JobState::Done).await.len(), 1);
    }

    async fn urgent_before_normal_before_background_and_older_first(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        for (text, priority) in [("b", Priority::Background), ("n1", Priority::Normal), ("u", Priority::Urgent)] {
            enqueue(&test.db, &queue, tenant, note(text).priority(priority)).await;
            test.clock.advance(Duration::from_millis(5));
        }
        enqueue(&test.db, &queue, tenant, note("n2")).await;
        let mut one_at_a_time = quick();
        one_at_a_time.workers = 1;
        runner(&test.db, &queue, logging(&log), one_at_a_time).drain().await.unwrap();
        assert_eq!(*log.lock().unwrap(), ["u", "n1", "n2", "b"]);
    }

    async fn a_unique_job_is_queued_once_until_it_is_done(test: TestDb) {
        let (tenant, other, queue, log) =
            (test.add_tenant("shop").await, test.add_tenant("other").await, queue(&test), Log::default());
        let first = enqueue(&test.db, &queue, tenant, note("a").unique("k")).await;
        let copy = queue.clone();
        let second = test.db.write(tenant, move |tx| copy.enqueue(tx, &note("b").unique("k"))).await.unwrap();
        assert_eq!(second, EnqueueOutcome::Existing(first));
        enqueue(&test.db, &queue, other, note("c").unique("k")).await;
        let runner = runner(&test.db, &queue, logging(&log), quick());
        assert_eq!(runner.drain().await.unwrap(), 2);
        enqueue(&test.db, &queue, tenant, note("d").unique("k")).await;
        assert_eq!(runner.drain().await.unwrap(), 1);
    }

    async fn a_job_for_later_waits_for_its_time(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        let later = test.clock.now().plus(Duration::from_secs(3600));
        enqueue(&test.db, &queue, tenant, note("later").run_at(later)).await;
        let runner = runner(&test.db, &queue, logging(&log), quick());
        assert_eq!(runner.drain().await.unwrap(), 0);
        test.clock.advance(Duration::from_secs(3600));
        assert_eq!(runner.drain().await.unwrap(), 1);
    }

    async fn what_fails_is_tried_again_with_growing_pauses_then_given_up(test: TestDb) {
        let (tenant, queue, tries) = (test.add_tenant("shop").await, queue(&test), Arc::new(AtomicU32::new(0)));
        enqueue(&test.db, &queue, tenant, note("x").attempts(3)).await;
        let runner = runner(&test.db, &queue, failing(&tries, passing("the line was busy")), quick());
        let mut waits = Vec::new();
        while jobs_in(&test.db, JobState::Dead).await.is_empty() {
            let before = tries.load(Ordering::SeqCst);
            let began = test.clock.now();
            while tries.load(Ordering::SeqCst) == before {
                runner.drain().await.unwrap();
                test.clock.advance(Duration::from_millis(500));
            }
            waits.push(test.clock.now().since(began).as_secs());
        }
        assert_eq!(tries.load(Ordering::SeqCst), 3);
        assert!((4..=7).contains(&waits[1]) && (8..=13).contains(&waits[2]), "{waits:?}");
        let dead = &jobs_in(&test.db, JobState::Dead).await[0];
        assert_eq!((dead.attempt, dead.last_error.as_deref()), (3, Some("the line was busy")));
    }

    async fn what_can_never_pass_is_given_up_at_once(test: TestDb) {
        let (tenant, queue, tries) = (test.add_tenant("shop").await, queue(&test), Arc::new(AtomicU32::new(0)));
        enqueue(&test.db, &queue, tenant, note("x")).await;
        let lasting = JobFailure::Lasting("no such number\0".to_owned());
        runner(&test.db, &queue, failing(&tries, lasting), quick()).drain().await.unwrap();
        let dead = jobs_in(&test.db, JobState::Dead).await;
        assert_eq!((tries.load(Ordering::SeqCst), dead.len()), (1, 1));
        assert_eq!(dead[0].last_error.as_deref(), Some("no such number"));
    }

    async fn whoever_says_when_to_come_back_is_believed(test: TestDb) {
        let (tenant, queue, tries) = (test.add_tenant("shop").await, queue(&test), Arc::new(AtomicU32::new(0)));
        enqueue(&test.db, &queue, tenant, note("x")).await;
        let later = JobFailure::Later { why: "429".to_owned(), after: Duration::from_secs(90) };
        runner(&test.db, &queue, failing(&tries, later), quick()).drain().await.unwrap();
        let waiting = &jobs_in(&test.db, JobState::Scheduled).await[0];
        assert_eq!(waiting.run_at, test.clock.now().plus(Duration::from_secs(90)));
    }

    async fn a_handler_that_panics_has_failed_like_any_other(test: TestDb) {
        let (tenant, queue) = (test.add_tenant("shop").await, queue(&test));
        let mut registry = JobRegistry::default();
        registry.add(JobKind::new("note"), |job| async move {
            assert_ne!(job.kind, "note", "on purpose");
            Ok(())
        });
        enqueue(&test.db, &queue, tenant, note("x").attempts(1)).await;
        runner(&test.db, &queue, registry, quick()).drain().await.unwrap();
        let dead = jobs_in(&test.db, JobState::Dead).await;
        assert!(dead[0].last_error.as_deref().unwrap().contains("on purpose"), "{dead:?}");
    }

    async fn a_dead_job_is_run_again_unless_its_work_is_queued_already(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        let failing = failing(&Arc::default(), JobFailure::Lasting("broken".to_owned()));
        let id = enqueue(&test.db, &queue, tenant, note("x").unique("k")).await;
        runner(&test.db, &queue, failing.clone(), quick()).drain().await.unwrap();
        let twin = enqueue(&test.db, &queue, tenant, note("y").unique("k")).await;
        let now: Timestamp = test.clock.now();
        let refused = administered!(test, |tx| dead_letters::retry(tx, id, now));
        assert!(matches!(refused, Err(Error::AlreadyQueued(job)) if job == id), "{refused:?}");
        assert_eq!(administered!(test, |tx| dead_letters::retry_all(tx, None, now)).unwrap(), 0);
        runner(&test.db, &queue, failing, quick()).drain().await.unwrap();
        assert_eq!(jobs_in(&test.db, JobState::Dead).await.len(), 2);
        assert_eq!(
            administered!(test, |tx| dead_letters::retry_all(tx, Some("note"), now)).unwrap(),
            1, "of two with the same key one can be queued"
        );
        assert_eq!(runner(&test.db, &queue, logging(&log), quick()).drain().await.unwrap(), 1);
        let left = jobs_in(&test.db, JobState::Dead).await[0].id;
        assert!(left == id || left == twin);
        assert!(administered!(test, |tx| dead_letters::retry(tx, left, now)).unwrap());
        assert!(!administered!(test, |tx| dead_letters::retry(tx, left, now)).unwrap());
        assert_eq!(runner(&test.db, &queue, logging(&log), quick()).drain().await.unwrap(), 1);
    }

    async fn a_worker_that_lost_its_lease_changes_nothing(test: TestDb) {
        let (tenant, queue) = (test.add_tenant("shop").await, queue(&test));
        enqueue(&test.db, &queue, tenant, note("x")).await;
        let (db, clock) = (test.db.clone(), test.clock.clone());
        let (lost, seen) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (inner_lost, inner_seen) = (lost.clone(), seen.clone());
        let mut registry = JobRegistry::default();
        registry.add(JobKind::new("note"), move |job| {
            let (db, clock, lost, seen) = (db.clone(), clock.clone(), inner_lost.clone(), inner_seen.clone());
            async move {
                let first = seen.fetch_add(1, Ordering::SeqCst) == 0;
                if first {
                    // This worker stalls for so long that another takes the job over and finishes it.
                    clock.advance(Duration::from_secs(120));
                    while effects(&db, job.tenant).await == 0 {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
                let tenant = job.tenant;
                let outcome: Result<()> = db.write(tenant, move |tx| effect(tx, &job, clock.as_ref())).await;
                lost.fetch_add(u32::from(matches!(outcome, Err(Error::LeaseLost(_)))), Ordering::SeqCst);
                outcome.map_err(JobFailure::from)
            }
        });
        let (slow, quick_one) = (
            runner(&test.db, &queue, registry.clone(), quick()),
            runner(&test.open_again().await, &queue, registry, quick()),
        );
        let began = test.clock.now();
        let (a, b) = tokio::join!(slow.drain(), async {
            wait_until(async || test.clock.now() > began).await;
            quick_one.drain().await
        });
        assert_eq!((a.unwrap(), b.unwrap()), (1, 1));
        assert_eq!((effects(&test.db, tenant).await, lost.load(Ordering::SeqCst)), (1, 1));
        let done = jobs_in(&test.db, JobState::Done).await;
        assert_eq!((done.len(), done[0].attempt), (1, 2));
    }

    async fn a_job_that_kills_its_worker_every_time_is_given_up(test: TestDb) {
        let (tenant, queue) = (test.add_tenant("shop").await, queue(&test));
        enqueue(&test.db, &queue, tenant, note("poison").attempts(2)).await;
        let mut registry = JobRegistry::default();
        registry.add(JobKind::new("note"), |_| std::future::pending::<Result<(), JobFailure>>());
        for attempt in 1..=2 {
            let dying = runner(&test.db, &queue, registry.clone(), quick());
            let is_at_it = async || jobs_in(&test.db, JobState::Running).await.iter().any(|job| job.attempt == attempt);
            tokio::select! {
                _ = dying.drain() => panic!("it ended by itself"),
                () = wait_until(is_at_it) => {}
            }
            test.clock.advance(Duration::from_secs(61));
        }
        runner(&test.db, &queue, JobRegistry::default(), quick()).drain().await.unwrap();
        let dead = jobs_in(&test.db, JobState::Dead).await;
        assert_eq!(dead[0].last_error.as_deref(), Some("the worker stopped without finishing"));
    }

    async fn a_paused_tenants_jobs_wait(test: TestDb) {
        let (tenant, other, queue, log) =
            (test.add_tenant("shop").await, test.add_tenant("other").await, queue(&test), Log::default());
        enqueue(&test.db, &queue, tenant, note("paused")).await;
        enqueue(&test.db, &queue, other, note("other")).await;
        let tenants = test.db.platform(munshi_store::tenants::TENANTS);
        let set = |status| tenants.write(move |tx| administer_platform(tx, |tx| munshi_store::tenants::set_status(tx, tenant, status)));
        set(TenantStatus::Paused).await.unwrap();
        let runner = runner(&test.db, &queue, logging(&log), quick());
        assert_eq!(runner.drain().await.unwrap(), 1);
        set(TenantStatus::Active).await.unwrap();
        assert_eq!(runner.drain().await.unwrap(), 1);
        assert_eq!(*log.lock().unwrap(), ["other", "paused"]);
    }

    async fn a_kind_nobody_here_knows_is_left_for_others(test: TestDb) {
        let (tenant, queue) = (test.add_tenant("shop").await, queue(&test));
        enqueue(&test.db, &queue, tenant, NewJob::new("from_the_future", &1).unwrap()).await;
        assert_eq!(runner(&test.db, &queue, logging(&Log::default()), quick()).drain().await.unwrap(), 0);
        assert_eq!(jobs_in(&test.db, JobState::Ready).await.len(), 1);
    }

    async fn tenants_see_only_their_own_jobs(test: TestDb) {
        let (tenant, other, queue) = (test.add_tenant("shop").await, test.add_tenant("other").await, queue(&test));
        enqueue(&test.db, &queue, tenant, note("mine")).await;
        for (id, expected) in [(tenant, 1), (other, 0)] {
            let sql = "SELECT count(*) FROM jobs WHERE tenant_id = $1";
            let seen: Result<i64> = test.db.read(id, move |tx| Ok(tx.one(sql, &[], |row| row.get(0))?)).await;
            assert_eq!(seen.unwrap(), expected);
        }
    }
}
