//! Removes files that nothing hangs on, what uploads left that broke off, and what was being removed.

use std::time::Duration;

use munshi_jobs::schedule::{Schedule, ScheduleRule};
use munshi_jobs::{Job, JobFailure, JobKind, JobRegistry};
use munshi_store::Tx;
use munshi_types::{BlobId, TenantId};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::references;
use crate::rows;
use crate::service::BlobService;

/// The kind of the job, and the name of its schedule.
pub const SWEEP: &str = "blobs.sweep";
/// Every hour, away from the hour's full.
const HOURLY: &str = "23 * * * *";
/// A file that is being written for so long has lost its writer: an upload and its storing take minutes.
const ABANDONED: Duration = Duration::from_secs(3600);
const BATCH: u32 = 100;
/// Where so many files can't be removed, the store is away.
const MOST_FAILURES: u32 = 20;

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Uploads that no message took.
    pub expired: u64,
    /// Files removed.
    pub removed: u64,
}

/// The job that sweeps a tenant's files.
#[derive(Clone, Debug)]
pub struct SweepJob(pub BlobService);

impl SweepJob {
    /// Every tenant has it every hour.
    pub fn install(&self, registry: &mut JobRegistry) -> munshi_jobs::Result<()> {
        let sweeper = self.clone();
        registry.add(JobKind::new(SWEEP).limit(1), move |job| {
            let sweeper = sweeper.clone();
            async move { sweeper.run(&job).await }
        });
        let rule = ScheduleRule::cron(HOURLY)?;
        registry.add_tenant_schedule(Schedule::new(SWEEP, SWEEP, &serde_json::json!({}), rule)?);
        Ok(())
    }

    async fn run(&self, job: &Job) -> Result<(), JobFailure> {
        self.0.remove_leftovers().await?;
        let report = self.0.sweep(job.tenant).await?;
        if report != SweepReport::default() {
            let SweepReport { expired, removed } = report;
            tracing::info!(tenant = %job.tenant, expired, removed, "files swept");
        }
        Ok(())
    }
}

impl BlobService {
    /// Sweeps a tenant's files. Run again after a crash, it goes on.
    pub async fn sweep(&self, tenant: TenantId) -> Result<SweepReport> {
        let now = self.clock().now();
        let begin = move |tx: &mut Tx<'_>| {
            rows::retire_abandoned(tx, now.minus(ABANDONED))?;
            references::remove_expired(tx, now)
        };
        let expired = self.db().write(tenant, begin).await?;
        loop {
            let unreferenced = self.db().read(tenant, |tx| rows::list_unreferenced(tx, BATCH)).await?;
            if unreferenced.is_empty() {
                break;
            }
            let retire = move |tx: &mut Tx<'_>| {
                unreferenced.into_iter().try_for_each(|blob| rows::retire_unreferenced(tx, blob))
            };
            self.db().write(tenant, retire).await?;
        }
        Ok(SweepReport { expired, removed: self.remove_retired(tenant).await? })
    }

    /// One file that can't be removed keeps no other. What stays makes the sweep fail at its end, and is tried again.
    async fn remove_retired(&self, tenant: TenantId) -> Result<u64> {
        let (mut removed, mut last, mut failures) = (0, BlobId::from_uuid(Uuid::nil()), 0);
        let mut failure = None;
        loop {
            let retired = self.db().read(tenant, move |tx| rows::list_retired(tx, last, BATCH)).await?;
            let Some(end) = retired.last().filter(|_| failures < MOST_FAILURES) else {
                return failure.map_or(Ok(removed), Err);
            };
            last = *end;
            for blob in retired {
                let Err(error) = self.remove(tenant, blob).await else {
                    removed += 1;
                    continue;
                };
                tracing::warn!(%error, %tenant, %blob, "a file can't be removed");
                failure = Some(error);
                failures += 1;
                if failures == MOST_FAILURES {
                    break;
                }
            }
        }
    }

    /// Removes what uploads left in this node's folder that were killed. Says how many files that were.
    pub async fn remove_leftovers(&self) -> Result<u32> {
        let (spool, now) = (self.spool().clone(), self.clock().now());
        let removing = tokio::task::spawn_blocking(move || spool.remove_leftovers(now, ABANDONED));
        removing.await.map_err(|error| Error::stopped(&error))?
    }
}

impl From<Error> for JobFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Database(error) => error.into(),
            Error::Storage(why) | Error::StorageTimeout(why) => Self::Outage(why),
            error => Self::Passing(error.to_string()),
        }
    }
}
