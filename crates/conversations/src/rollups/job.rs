//! Every night the days that are over are counted, for every tenant.

use std::sync::Arc;

use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_jobs::{Job, JobFailure, JobKind, JobRegistry};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Cursor, Db, PageRequest, PlatformTx};
use munshi_types::{Clock, TenantId, Zone};

use super::refresh;
use crate::error::Result;

pub const KIND: &str = "turns.count";

/// While most of the country sleeps.
const NIGHTLY: &str = "10 3 * * *";
const PAGE: u32 = 100;

/// Teaches a runner to count.
pub fn install(registry: &mut JobRegistry, db: &Db, clock: &Arc<dyn Clock>) {
    let (db, clock) = (db.clone(), clock.clone());
    registry.add(JobKind::new(KIND).limit(1), move |job| {
        let (db, clock) = (db.clone(), clock.clone());
        async move { run(&db, clock.as_ref(), &job).await }
    });
}

/// Sets the schedule; again at every start, which changes nothing.
pub async fn set_schedule(db: &Db, clock: &dyn Clock) -> Result<()> {
    let schedule = Schedule::new(KIND, KIND, &serde_json::json!({}), ScheduleRule::cron(NIGHTLY)?)?;
    let now = clock.now();
    db.write(TenantId::PLATFORM, move |tx| schedule::set(tx, &schedule, &Zone::default(), now)).await?;
    Ok(())
}

/// What breaks for one tenant is told once the others are counted; then it is tried again.
async fn run(db: &Db, clock: &dyn Clock, job: &Job) -> Result<(), JobFailure> {
    let mut after: Option<Cursor> = None;
    let mut broken = None;
    loop {
        let request = PageRequest::new(after.take(), PAGE);
        let read = move |tx: &mut PlatformTx<'_>| tenants::list(tx, &request);
        let page = db.platform(TENANTS).read(read).await.map_err(crate::Error::from)?;
        for tenant in page.items {
            if job.cancelled.is_cancelled() {
                return Err(JobFailure::Passing("job cancelled".to_owned()));
            }
            match refresh(db, tenant.id, &tenant.zone, clock.now()).await {
                Ok(days) => tracing::debug!(tenant = %tenant.id, days, "turn rollups updated"),
                Err(error) => {
                    tracing::warn!(tenant = %tenant.id, %error, "turn rollup failed");
                    broken = Some(error);
                }
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return broken.map_or(Ok(()), |error| Err(error.into())),
        }
    }
}
