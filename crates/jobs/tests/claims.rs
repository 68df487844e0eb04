//! What a claim costs, and whom it passes by.

use crate::support::{EFFECTS, Log, enqueue, logging, note, queue, quick, runner};
use munshi_jobs::{JOBS, JobRunnerOptions};
use munshi_store::tenants::{TENANTS, set_status};
use munshi_store::{Db, MIGRATIONS, PlatformTx, across_tenants, params};
use munshi_test_support::{DatabaseEngine, StatementCounter, TestDb, administer_platform, on_both_engines};
use munshi_types::{TenantId, TenantStatus};

/// Statements that it takes to claim and run 40 jobs, eight at a time, spread over so many tenants.
async fn count_statements(test: &TestDb, db: &Db, counter: &StatementCounter, tenants: usize) -> u64 {
    let (queue, log) = (queue(test), Log::default());
    let mut ids = Vec::new();
    for number in 0..tenants {
        ids.push(test.add_tenant(&format!("shop-{tenants}-{number}")).await);
    }
    for number in 0..40 {
        enqueue(&test.db, &queue, ids[number % tenants], note(&number.to_string())).await;
    }
    let runner = runner(db, &queue, logging(&log), JobRunnerOptions { workers: 8, ..quick() });
    counter.take();
    runner.drain().await.unwrap();
    assert_eq!(log.lock().unwrap().len(), 40);
    counter.take().0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_takes_as_many_statements_for_forty_tenants_as_for_one() {
    let test = TestDb::open(DatabaseEngine::Postgres, &[MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS]).await;
    let (db, counter) = StatementCounter::open(&test).await;
    let one = count_statements(&test, &db, &counter, 1).await;
    assert_eq!(count_statements(&test, &db, &counter, 40).await, one);
    assert_eq!(count_statements(&test, &db, &counter, 8).await, one);
}

/// Rows of jobs that were read one after the other instead of through an index, so far. The one connection first hands in
/// what it has counted.
async fn rows_scanned(db: &Db) -> i64 {
    let read = |sql: &'static str| async move {
        let one =
            move |tx: &mut PlatformTx<'_>| tx.one(across_tenants(sql), params![], |row| row.get::<i64>(0));
        db.platform(JOBS).read(one).await.unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
    };
    read("SELECT count(*) FROM (SELECT pg_stat_force_next_flush()) AS flushed").await;
    read("SELECT seq_tup_read FROM pg_stat_all_tables WHERE relname = 'jobs' AND schemaname = 'public'").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_reads_no_backlog_row_by_row() {
    let test = TestDb::open(DatabaseEngine::Postgres, &[MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS]).await;
    let (queue, log) = (queue(&test), Log::default());
    let (paused, active) = (test.add_tenant("paused").await, test.add_tenant("active").await);
    pause(&test, vec![paused]).await;
    let fill = move |tx: &mut PlatformTx<'_>| {
        let sql = across_tenants(
            "INSERT INTO jobs (id, tenant_id, kind, priority, payload, state, run_at, attempt, max_attempts, created_at)
             SELECT gen_random_uuid(), $1, 'note', 1, '1', 'ready', now(), 0, 8, now() FROM generate_series(1, 20000)",
        );
        tx.execute(sql, params![paused])
    };
    let added: munshi_store::Result<u64> = test.db.platform(JOBS).write(fill).await;
    assert_eq!(added.unwrap(), 20_000);
    test.place.run_as_superuser("ANALYZE jobs");
    for number in 0..20 {
        enqueue(&test.db, &queue, active, note(&number.to_string())).await;
    }
    let (db, _counter) = StatementCounter::open(&test).await;
    let before = rows_scanned(&db).await;
    let runner = runner(&db, &queue, logging(&log), JobRunnerOptions { workers: 4, ..quick() });
    assert_eq!(runner.drain().await.unwrap(), 20);
    let scanned = rows_scanned(&db).await - before;
    assert!(scanned < 20_000, "{scanned} rows were read one after the other");
}

async fn pause(test: &TestDb, tenants: Vec<TenantId>) {
    let pause = move |tx: &mut PlatformTx<'_>| {
        administer_platform(tx, |tx| {
            tenants.iter().try_for_each(|id| set_status(tx, *id, TenantStatus::Paused).map(drop))
        })
    };
    test.db.platform(TENANTS).write(pause).await.unwrap();
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, EFFECTS];

    async fn a_crowd_of_paused_tenants_is_passed_by(test: TestDb) {
        let (queue, log) = (queue(&test), Log::default());
        let mut paused = Vec::new();
        for number in 0..150 {
            let tenant = test.add_tenant(&format!("paused-{number}")).await;
            enqueue(&test.db, &queue, tenant, note("paused")).await;
            paused.push(tenant);
        }
        pause(&test, paused).await;
        let last = test.add_tenant("last").await;
        for number in 0..5 {
            enqueue(&test.db, &queue, last, note(&number.to_string())).await;
        }
        let runner = runner(&test.db, &queue, logging(&log), JobRunnerOptions { workers: 2, ..quick() });
        assert_eq!(runner.drain().await.unwrap(), 5);
        let mut ran = log.lock().unwrap().clone();
        ran.sort();
        assert_eq!(ran, ["0", "1", "2", "3", "4"]);
    }
}
