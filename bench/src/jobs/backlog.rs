//! A database with tenants and jobs that wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use munshi_jobs::{JOBS, JobQueue};
use munshi_store::{MIGRATIONS, StoreOptions, across_tenants, params, tenants};
use munshi_test_support::database::MORNING;
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::{Tenant, TenantId, TenantStatus, Zone};
use tokio::runtime::Runtime;

use super::{KIND, queue};

/// More than a runner gets through in one round.
const JOBS_WAITING: usize = 20_000;

pub(crate) struct Backlog {
    pub(crate) test: TestDb,
    pub(crate) queue: JobQueue,
    tenants: Arc<Vec<TenantId>>,
}

/// Hands out the tenants in turn.
#[derive(Clone)]
pub(crate) struct Turns {
    tenants: Arc<Vec<TenantId>>,
    next: Arc<AtomicUsize>,
}

impl Turns {
    pub(crate) fn next(&self) -> TenantId {
        self.tenants[self.next.fetch_add(1, Ordering::Relaxed) % self.tenants.len()]
    }
}

impl Backlog {
    pub(crate) fn make(engine: DatabaseEngine, count: usize, runtime: &Runtime) -> Result<Self> {
        runtime.block_on(async {
            let lists = [MIGRATIONS, munshi_jobs::MIGRATIONS];
            let test = TestDb::open_with(engine, &lists, StoreOptions::default()).await;
            let added = (0..count).map(|number| tenant(&test, number)).collect::<Result<Vec<_>>>()?;
            let tenants = Arc::new(added.iter().map(|tenant| tenant.id).collect());
            let door = test.db.platform(tenants::TENANTS);
            door.write(move |tx| added.iter().try_for_each(|tenant| tenants::add(tx, tenant))).await?;
            Ok(Self { test, queue: queue(), tenants })
        })
    }

    pub(crate) fn turns(&self) -> Turns {
        Turns { tenants: self.tenants.clone(), next: Arc::default() }
    }

    /// Adds jobs, as many for each tenant.
    pub(crate) fn fill(&self, runtime: &Runtime) -> Result<()> {
        let text = (
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $3)
             INSERT INTO jobs (id, tenant_id, kind, priority, payload, state, run_at, attempt, max_attempts, created_at)
             SELECT randomblob(16), tenants.id, $1, 1, '1', 'ready', $2, 0, 8, $2 FROM n, tenants",
            "INSERT INTO jobs (id, tenant_id, kind, priority, payload, state, run_at, attempt, max_attempts, created_at)
             SELECT gen_random_uuid(), tenants.id, $1, 1, '1', 'ready', $2, 0, 8, $2
             FROM generate_series(1, $3) AS n, tenants",
        );
        let each = i64::try_from(JOBS_WAITING / self.tenants.len())?;
        let fill = move |tx: &mut munshi_store::PlatformTx<'_>| {
            tx.execute(across_tenants(text), params![KIND, MORNING, each])
        };
        let _added: u64 = runtime.block_on(self.test.db.platform(JOBS).write(fill))?;
        if self.test.engine() == DatabaseEngine::Postgres {
            // What the server does by itself within a minute.
            self.test.place.run_as_superuser("VACUUM ANALYZE jobs");
        }
        Ok(())
    }
}

fn tenant(test: &TestDb, number: usize) -> Result<Tenant> {
    Ok(Tenant {
        id: test.ids.next(),
        name: format!("shop-{number}").parse()?,
        zone: Zone::default(),
        status: TenantStatus::Active,
        created_at: MORNING,
    })
}
