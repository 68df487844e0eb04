//! Jobs by the clock: once, whoever fires them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::support::{EFFECTS, Log, jobs_in, logging, queue, quick, runner};
use munshi_jobs::JobState;
use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_store::MIGRATIONS;
use munshi_test_support::{TestDb, administer_platform, on_both_engines};
use munshi_types::{Clock, TenantId, TenantStatus, Zone};

fn every_morning() -> Schedule {
    Schedule::new("morning", "note", &"good morning", ScheduleRule::cron("0 9 * * *").unwrap()).unwrap()
}

async fn set(test: &TestDb, tenant: TenantId, schedule: Schedule, zone: &str) {
    let (now, zone): (_, Zone) = (test.clock.now(), zone.parse().unwrap());
    test.db.write(tenant, move |tx| schedule::set(tx, &schedule, &zone, now)).await.unwrap();
}

/// A runner whose process knows a schedule that every tenant has.
fn runner_with(test: &TestDb, log: &Log, seconds: u64) -> munshi_jobs::JobRunner {
    let mut registry = logging(log);
    let every = ScheduleRule::every(Duration::from_secs(seconds)).unwrap();
    registry.add_tenant_schedule(Schedule::new("beat", "note", &"beat", every).unwrap());
    runner(&test.db, &queue(test), registry, quick())
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS];

    async fn a_month_of_mornings_passes_in_a_moment(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        set(&test, tenant, every_morning(), "Asia/Kolkata").await;
        let runner = runner(&test.db, &queue, logging(&log), quick());
        for _ in 0..(30 * 24) {
            test.clock.advance(Duration::from_secs(3600));
            runner.drain().await.unwrap();
        }
        assert_eq!(log.lock().unwrap().len(), 30);
    }

    async fn many_nodes_fire_once(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        set(&test, tenant, every_morning(), "Asia/Kolkata").await;
        for number in 0..20 {
            let every = ScheduleRule::every(Duration::from_secs(60)).unwrap();
            set(&test, tenant, Schedule::new(format!("beat {number}"), "note", &"beat", every).unwrap(), "UTC").await;
        }
        test.clock.advance(Duration::from_secs(86_400));
        let mut runners = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let runner = runner(&test.open_again().await, &queue, logging(&log), quick());
            runners.spawn(async move { runner.drain().await.unwrap() });
        }
        runners.join_all().await;
        assert_eq!(log.lock().unwrap().len(), 21, "what was missed meanwhile is not made up for");
    }

    async fn a_schedule_does_not_pile_up_behind_a_slow_job(test: TestDb) {
        let (tenant, queue) = (test.add_tenant("shop").await, queue(&test));
        let every = ScheduleRule::every(Duration::from_secs(60)).unwrap();
        set(&test, tenant, Schedule::new("beat", "unknown_here", &"beat", every).unwrap(), "UTC").await;
        let runner = runner(&test.db, &queue, logging(&Log::default()), quick());
        for _ in 0..5 {
            test.clock.advance(Duration::from_secs(60));
            runner.drain().await.unwrap();
        }
        assert_eq!(jobs_in(&test.db, JobState::Ready).await.len(), 1);
    }

    async fn setting_it_again_keeps_its_beat_and_changing_it_does_not(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        let beat = |seconds| Schedule::new("beat", "note", &"beat", ScheduleRule::every(Duration::from_secs(seconds)).unwrap()).unwrap();
        let runner = runner(&test.db, &queue, logging(&log), quick());
        for _ in 0..6 {
            // A process that restarts every ten minutes must not put an hourly beat off forever.
            set(&test, tenant, beat(3600), "UTC").await;
            test.clock.advance(Duration::from_secs(600));
            runner.drain().await.unwrap();
        }
        assert_eq!(log.lock().unwrap().len(), 1);
        set(&test, tenant, beat(60), "UTC").await;
        test.clock.advance(Duration::from_secs(60));
        runner.drain().await.unwrap();
        assert_eq!(log.lock().unwrap().len(), 2);
        assert!(test.db.write(tenant, |tx| schedule::remove(tx, "beat")).await.unwrap());
        assert!(!test.db.write(tenant, |tx| schedule::remove(tx, "beat")).await.unwrap());
    }

    async fn every_tenants_schedule_keeps_its_beat_over_restarts_until_it_changes(test: TestDb) {
        let (_, log) = (test.add_tenant("shop").await, Log::default());
        for _ in 0..6 {
            runner_with(&test, &log, 3600).drain().await.unwrap();
            test.clock.advance(Duration::from_secs(600));
        }
        runner_with(&test, &log, 3600).drain().await.unwrap();
        assert_eq!(log.lock().unwrap().len(), 1);
        // The next version beats every minute; one of the old version that still runs does not undo it.
        let old = runner_with(&test, &log, 3600);
        old.drain().await.unwrap();
        let new = runner_with(&test, &log, 60);
        for _ in 0..3 {
            new.drain().await.unwrap();
            old.drain().await.unwrap();
            test.clock.advance(Duration::from_secs(60));
        }
        new.drain().await.unwrap();
        assert_eq!(log.lock().unwrap().len(), 4);
        // A process that knows none of it takes it away.
        runner(&test.db, &queue(&test), logging(&log), quick()).drain().await.unwrap();
        test.clock.advance(Duration::from_secs(3600));
        runner(&test.db, &queue(&test), logging(&log), quick()).drain().await.unwrap();
        assert_eq!(log.lock().unwrap().len(), 4);
    }

    async fn a_paused_tenants_schedules_wait(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        set(&test, tenant, every_morning(), "Asia/Kolkata").await;
        let tenants = test.db.platform(munshi_store::tenants::TENANTS);
        let status = |status| tenants.write(move |tx| administer_platform(tx, |tx| munshi_store::tenants::set_status(tx, tenant, status)));
        status(TenantStatus::Paused).await.unwrap();
        let runner = runner(&test.db, &queue, logging(&log), quick());
        test.clock.advance(Duration::from_secs(3 * 86_400));
        runner.drain().await.unwrap();
        assert!(log.lock().unwrap().is_empty());
        status(TenantStatus::Active).await.unwrap();
        runner.drain().await.unwrap();
        assert_eq!(log.lock().unwrap().len(), 1);
    }
}
