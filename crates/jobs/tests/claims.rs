//! What a claim costs, and whom it passes by.

use crate::support::{EFFECTS, Log, enqueue, logging, note, queue, quick, runner};
use munshi_jobs::JobRunnerOptions;
use munshi_store::{Db, MIGRATIONS, PlatformTx};
use munshi_test_support::{DatabaseEngine, StatementCounter, TestDb, administer_platform, on_both_engines};
use munshi_types::TenantStatus;

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
        let pause = move |tx: &mut PlatformTx<'_>| {
            administer_platform(tx, |tx| {
                paused.iter().try_for_each(|id| munshi_store::tenants::set_status(tx, *id, TenantStatus::Paused).map(drop))
            })
        };
        test.db.platform(munshi_store::tenants::TENANTS).write(pause).await.unwrap();
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
