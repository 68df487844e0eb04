//! A worker killed with -9 in the middle of its work, again and again: every effect happens once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use crate::support::{EFFECTS, effect, effects, enqueue, jobs_in, runner, system_queue};
use munshi_jobs::{JobFailure, JobKind, JobRegistry, JobRunnerOptions, JobState, NewJob};
use munshi_store::{DatabaseAddress, Db, MIGRATIONS, Migrations};
use munshi_test_support::{DatabaseEngine, PATIENCE, TestDb, process};
use munshi_types::{SystemClock, TenantId};
use tokio_util::sync::CancellationToken;

/// Long enough that a busy machine renews in time, short enough that a test need not wait long for a dead worker.
const LEASE: Duration = Duration::from_millis(1500);

fn migrations() -> Migrations {
    Migrations::new(&[MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS]).unwrap()
}

fn options() -> JobRunnerOptions {
    JobRunnerOptions {
        lease: LEASE,
        poll: Duration::from_millis(50),
        workers: 8,
        ..JobRunnerOptions::default()
    }
}

/// A job takes a moment, writes its effect and ends, in one transaction.
fn registry(db: &Db) -> JobRegistry {
    let (mut registry, db) = (JobRegistry::default(), db.clone());
    registry.add(JobKind::new("work"), move |job| {
        let db = db.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(3)).await;
            let tenant = job.tenant;
            db.write(tenant, move |tx| effect(tx, &job, &SystemClock)).await.map_err(JobFailure::from)?;
            std::io::stdout().lock().write_all(b"<<effect>>\n").unwrap();
            Ok(())
        }
    });
    registry
}

#[test]
fn the_child_works() {
    let Some(url) = process::role() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let address: DatabaseAddress = url.parse().unwrap();
        let db = Db::open(&address, &munshi_store::StoreOptions::default(), &migrations()).await.unwrap();
        runner(&db, &system_queue(), registry(&db), options()).run(CancellationToken::new()).await;
    });
}

fn url_of(test: &TestDb) -> String {
    match test.engine() {
        DatabaseEngine::Sqlite => format!("sqlite:{}", test.place.folder().join("munshi.db").display()),
        DatabaseEngine::Postgres => test.place.postgres_url("munshi_owner"),
    }
}

/// Lets a child work until it has done `effects` jobs, then kills it. False when it had nothing left to do.
fn work_and_die(url: &str, effects: usize) {
    let mut child =
        process::build_child_command(concat!(module_path!(), "::the_child_works"), url).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = 0;
    for line in lines.map_while(Result::ok) {
        seen += usize::from(line.contains("<<effect>>"));
        if seen == effects {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(seen >= effects, "the child ended by itself");
}

async fn survive(engine: DatabaseEngine, kills: usize) {
    let test = TestDb::open(engine, &[MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS]).await;
    let (tenant, queue): (TenantId, _) = (test.add_tenant("shop").await, system_queue());
    let count = kills * 30;
    for _ in 0..count {
        enqueue(&test.db, &queue, tenant, NewJob::new("work", &()).unwrap().attempts(50)).await;
    }
    for kill in 0..kills {
        work_and_die(&url_of(&test), 1 + kill * 5 % 17);
    }
    let stop = CancellationToken::new();
    let last = runner(&test.db, &queue, registry(&test.db), options());
    let finish = async {
        while effects(&test.db, tenant).await < i64::try_from(count).unwrap() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        stop.cancel();
    };
    tokio::time::timeout(PATIENCE * 2, async { tokio::join!(last.run(stop.clone()), finish) }).await.unwrap();
    assert_eq!(effects(&test.db, tenant).await, i64::try_from(count).unwrap());
    for state in [JobState::Ready, JobState::Running, JobState::Scheduled, JobState::Dead] {
        assert!(jobs_in(&test.db, state).await.is_empty(), "jobs left {state}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_on_sqlite_double_no_effect_and_lose_none() {
    survive(DatabaseEngine::Sqlite, 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_kills_on_postgres_double_no_effect_and_lose_none() {
    survive(DatabaseEngine::Postgres, 20).await;
}
