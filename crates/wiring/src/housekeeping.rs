//! What is done at night for every tenant: old messages go to the archive, old codes go; once for all, what let people in.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use munshi_config::Config;
use munshi_conversations::retention::{ARCHIVE, ArchiveJob, Retention};
use munshi_identity::operators::OPERATORS;
use munshi_identity::{links, login_backoff, sign_ins};
use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_jobs::{JobFailure, JobKind, JobQueue, JobRegistry, NewJob, Priority};
use munshi_pack::delivery::{self, DELIVERIES};
use munshi_safety::proposals::{self, PROPOSALS};
use munshi_safety::rate_limits::{self, LIMITS};
use munshi_safety::requests::{self, REQUESTS};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, PlatformTx, Tx};
use munshi_types::{Clock, TenantId, TenantStatus, Timestamp, Zone};

use crate::failure::Result;

/// The kind of the job that gives every tenant its own, and the name of its schedule. One for all, so that a tenant made
/// tomorrow has it tomorrow night.
const NIGHT: &str = "housekeeping.night";
/// While most of the country sleeps.
const NIGHTLY: &str = "20 3 * * *";
/// The folder in the data folder; one for each tenant is made in it.
const FOLDER: &str = "archive";

pub(crate) fn register(
    kinds: &mut JobRegistry,
    config: &Config,
    db: &Db,
    queue: &JobQueue,
    clock: &Arc<dyn Clock>,
) {
    let usual = match config.data.hot_days {
        0 => Retention::Kept,
        days => Retention::Hot(Duration::from_secs(days as u64 * 86_400)),
    };
    let archivist =
        ArchiveJob { db: db.clone(), clock: clock.clone(), folder: archive_folder(config), usual };
    archivist.install(kinds);
    let (db, queue, clock) = (db.clone(), queue.clone(), clock.clone());
    kinds.add(JobKind::new(NIGHT).limit(1), move |_| {
        let (db, queue, now) = (db.clone(), queue.clone(), clock.now());
        async move {
            sweep_access(&db, now).await?;
            enqueue_for_tenants(&db, &queue).await
        }
    });
}

/// Where what is old goes.
pub(crate) fn archive_folder(config: &Config) -> PathBuf {
    config.data.dir.join(FOLDER)
}

/// Has the job run every night, on one node.
pub(crate) async fn schedule(db: &Db, clock: &dyn Clock) -> Result<()> {
    let now = clock.now();
    let nightly = Schedule::new(NIGHT, NIGHT, &(), ScheduleRule::cron(NIGHTLY)?)?;
    db.write(TenantId::PLATFORM, move |tx| schedule::set(tx, &nightly, &Zone::default(), now)).await?;
    Ok(())
}

/// Sign-ins and links that have ended, pauses that matter no more, rate limits that are free again, and what others sent that
/// was handled long ago.
async fn sweep_access(db: &Db, now: Timestamp) -> Result<(), JobFailure> {
    let sweep = move |tx: &mut PlatformTx<'_>| -> Result<(), munshi_identity::Error> {
        login_backoff::sweep(tx, now)?;
        sign_ins::sweep(tx, now)?;
        links::sweep(tx, now)?;
        Ok(())
    };
    db.platform(OPERATORS).write(sweep).await.map_err(to_transient_failure)?;
    let forget = move |tx: &mut PlatformTx<'_>| rate_limits::sweep(tx, now).map(drop);
    db.platform(LIMITS).write(forget).await.map_err(to_transient_failure)?;
    let forget = move |tx: &mut PlatformTx<'_>| requests::sweep(tx, now).map(drop);
    db.platform(REQUESTS).write(forget).await.map_err(to_transient_failure)?;
    let forget = move |tx: &mut PlatformTx<'_>| proposals::sweep(tx, now).map(drop);
    db.platform(PROPOSALS).write(forget).await.map_err(to_transient_failure)?;
    let forget = move |tx: &mut PlatformTx<'_>| delivery::sweep(tx, now).map(drop);
    db.platform(DELIVERIES).write(forget).await.map_err(to_transient_failure)
}

/// Makes the job of every tenant that has not been closed. Made twice, after a crash, it is one.
async fn enqueue_for_tenants(db: &Db, queue: &JobQueue) -> Result<(), JobFailure> {
    let mut after = None;
    loop {
        let request = PageRequest::new(after, PageRequest::LARGEST);
        let read = move |tx: &mut PlatformTx<'_>| tenants::list(tx, &request);
        let page = db.platform(TENANTS).read(read).await.map_err(to_transient_failure)?;
        for tenant in page.items.iter().filter(|tenant| tenant.status != TenantStatus::Archived) {
            let queue = queue.clone();
            let ask = move |tx: &mut Tx<'_>| -> Result<(), munshi_jobs::Error> {
                let job = NewJob::new(ARCHIVE, &serde_json::json!({}))?.priority(Priority::Background);
                queue.enqueue(tx, &job.unique(NIGHT))?;
                Ok(())
            };
            db.write(tenant.id, ask).await.map_err(to_transient_failure)?;
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn to_transient_failure(error: impl std::fmt::Display) -> JobFailure {
    JobFailure::Passing(error.to_string())
}

#[cfg(test)]
mod tests {
    use munshi_test_support::{TestDb, administer_platform, on_both_engines};

    use super::*;

    async fn jobs(test: &TestDb, tenant: TenantId) -> i64 {
        let count = |tx: &mut Tx<'_>| {
            let sql = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND kind = 'messages.archive'";
            tx.one(sql, munshi_store::params![], |row| row.get(0))
        };
        test.db.read(tenant, count).await.unwrap()
    }

    on_both_engines! {
        with [munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS];

        async fn every_tenant_has_its_night_also_one_made_later(test: TestDb) {
            let queue = JobQueue::new(test.clock.clone(), test.ids.clone());
            let (first, closed) = (test.add_tenant("first").await, test.add_tenant("closed").await);
            let close = move |tx: &mut PlatformTx<'_>| administer_platform(tx, |tx| tenants::set_status(tx, closed, TenantStatus::Archived));
            test.db.platform(TENANTS).write(close).await.unwrap();
            enqueue_for_tenants(&test.db, &queue).await.unwrap();
            enqueue_for_tenants(&test.db, &queue).await.unwrap();
            let later = test.add_tenant("later").await;
            assert_eq!((jobs(&test, first).await, jobs(&test, closed).await), (1, 0));
            assert_eq!(jobs(&test, later).await, 0);
            enqueue_for_tenants(&test.db, &queue).await.unwrap();
            assert_eq!((jobs(&test, first).await, jobs(&test, later).await), (1, 1));
        }
    }
}
