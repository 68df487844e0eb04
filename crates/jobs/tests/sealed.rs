//! What a job says, and why it failed, is sealed at rest; claims go across tenants all the same.

use std::time::Duration;

use munshi_jobs::{JOBS_OF_BEFORE, JobFailure, JobKind, JobRegistry, JobState};
use munshi_store::{Db, MIGRATIONS, RowMark, SealedBy, StoreOptions, Tx, params};
use munshi_test_support::memory_keys::unreachable_keyring;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, JobId, TenantId};

use crate::support::{Log, enqueue, jobs_in, logging, note, queue, quick, runner};

/// What stands in the columns of the jobs.
async fn stored(test: &TestDb, tenant: TenantId) -> Vec<String> {
    let sql =
        "SELECT CAST(payload AS TEXT) || coalesce(last_error, '') FROM jobs WHERE tenant_id = $1 ORDER BY id";
    let read = move |tx: &mut Tx<'_>| tx.all(sql, &[], |row| row.get(0));
    test.db.read(tenant, read).await.unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
}

fn refusing() -> JobRegistry {
    let mut registry = JobRegistry::default();
    registry.add(JobKind::new("note"), |job| async move {
        Err(JobFailure::Lasting(format!("nobody reads {}", job.read::<String>()?)))
    });
    registry
}

/// As a version wrote it that sealed no jobs.
async fn add_plain(test: &TestDb, tenant: TenantId, text: &'static str) -> JobId {
    let (id, now): (JobId, _) = (test.ids.next(), test.clock.now());
    let add = move |tx: &mut Tx<'_>| {
        let payload = munshi_store::JsonText::of(&text)?;
        tx.execute(
            "INSERT INTO jobs (id, tenant_id, kind, priority, payload, state, run_at, attempt, max_attempts, last_error, created_at)
             VALUES ($2, $1, 'note', 1, $3, 'ready', $4, 1, 8, 'Ramesh was away', $4)",
            params![id, payload, now],
        )
    };
    test.db.write(tenant, add).await.unwrap_or_else(|error: munshi_store::Error| panic!("{error}"));
    id
}

async fn open_without_keys(test: &TestDb) -> Db {
    let options = StoreOptions { keyring: Some(unreachable_keyring()), ..test.options.clone() };
    Db::open(&test.address, &options, &test.migrations).await.unwrap()
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS];

    async fn no_row_shows_what_a_job_says_or_why_it_failed(test: TestDb) {
        let (one, other) = (test.add_tenant("one").await, test.add_tenant("other").await);
        let queue = queue(&test);
        for tenant in [one, other, TenantId::PLATFORM] {
            enqueue(&test.db, &queue, tenant, note("Ramesh owes 500")).await;
        }
        assert_eq!(runner(&test.db, &queue, refusing(), quick()).drain().await.unwrap(), 3);
        for tenant in [one, other, TenantId::PLATFORM] {
            let rows = stored(&test, tenant).await;
            assert!(rows[0].contains("sealed:1:") && !rows[0].contains("Ramesh") && !rows[0].contains("nobody"), "{rows:?}");
        }
        let dead = jobs_in(&test.db, JobState::Dead).await;
        assert_eq!(dead.len(), 3);
        assert!(dead.iter().all(|job| job.last_error.as_deref() == Some("nobody reads Ramesh owes 500")), "{dead:?}");
    }

    async fn a_job_that_does_not_open_holds_up_no_other(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        let broken = enqueue(&test.db, &queue, tenant, note("broken").attempts(1)).await;
        let whole = enqueue(&test.db, &queue, tenant, note("whole")).await;
        // The value of another row opens nowhere else.
        let swap = move |tx: &mut Tx<'_>| {
            let sql = "UPDATE jobs SET payload = (SELECT j.payload FROM jobs j WHERE j.tenant_id = $1 AND j.id = $3)
                       WHERE tenant_id = $1 AND id = $2";
            tx.execute(sql, params![broken, whole])
        };
        let swapped: munshi_store::Result<u64> = test.db.write(tenant, swap).await;
        assert_eq!(swapped.unwrap(), 1);
        assert_eq!(runner(&test.db, &queue, logging(&log), quick()).drain().await.unwrap(), 2);
        assert_eq!(*log.lock().unwrap(), ["whole"]);
        let dead = jobs_in(&test.db, JobState::Dead).await;
        assert!(dead[0].id == broken && dead[0].last_error.as_deref().unwrap().contains("jobs.payload"), "{dead:?}");
    }

    async fn while_the_keys_are_away_a_job_waits_and_no_try_counts(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        enqueue(&test.db, &queue, tenant, note("later").attempts(1)).await;
        let away = open_without_keys(&test).await;
        let node = runner(&away, &queue, logging(&log), quick());
        for _ in 0..3 {
            assert_eq!(node.drain().await.unwrap(), 1);
            test.clock.advance(Duration::from_secs(3700));
        }
        assert!(log.lock().unwrap().is_empty());
        let waiting = jobs_in(&test.db, JobState::Scheduled).await;
        assert!(waiting[0].attempt == 0 && waiting[0].last_error.as_deref().unwrap().contains("keys"), "{waiting:?}");
        assert_eq!(runner(&test.db, &queue, logging(&log), quick()).drain().await.unwrap(), 1);
        assert_eq!(*log.lock().unwrap(), ["later"]);
    }

    async fn jobs_from_before_run_and_are_sealed(test: TestDb) {
        let (tenant, queue, log) = (test.add_tenant("shop").await, queue(&test), Log::default());
        add_plain(&test, tenant, "Ramesh owes 500").await;
        assert_eq!(runner(&test.db, &queue, logging(&log), quick()).drain().await.unwrap(), 1);
        let left = add_plain(&test, tenant, "Sita owes 300").await;
        let seal = |tx: &mut Tx<'_>| {
            let mut after = RowMark::START;
            while let Some(next) = JOBS_OF_BEFORE.seal_next(tx, after, 1, &mut |_, _| Ok(SealedBy::Tenant))? {
                after = next;
            }
            Ok::<_, munshi_store::Error>(())
        };
        for _ in 0..2 {
            test.db.write(tenant, seal).await.unwrap();
        }
        let rows = stored(&test, tenant).await;
        assert_eq!(rows.len(), 2);
        assert!(!rows.iter().any(|row| row.contains("owes") || row.contains("Ramesh")), "{rows:?}");
        assert_eq!(runner(&test.db, &queue, refusing(), quick()).drain().await.unwrap(), 1);
        let dead = jobs_in(&test.db, JobState::Dead).await;
        assert!(dead[0].id == left && dead[0].last_error.as_deref() == Some("nobody reads Sita owes 300"), "{dead:?}");
        assert_eq!(*log.lock().unwrap(), ["Ramesh owes 500"]);
    }
}
