//! Going on with what whoever asked could not end.

use std::time::Duration;

use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_jobs::{Job, JobFailure, JobKind, JobRegistry, NewJob};
use munshi_store::Db;
use munshi_types::{Clock, ErasureId, TenantId, Zone};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::service::ErasureService;

pub const ERASE: &str = "erasure.carry_out";

/// The kind of the job that removes what is kept for channels' retries alone.
const REMOVE_MESSAGE_IDS: &str = "erasure.remove_message_ids";
/// No channel sends a message again that was said so long ago.
pub(crate) const LAST_RETRY: Duration = Duration::from_secs(30 * 86_400);

/// The kind of the job that looks for erasures without one, and the name of its schedule.
const RESUME: &str = "erasure.resume";
const HOURLY: &str = "40 * * * *";

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ErasureJobPayload {
    pub(crate) erasure: ErasureId,
}

/// While one waits or runs, there is no second.
pub(crate) fn build_job(erasure: ErasureId) -> Result<NewJob, Error> {
    Ok(NewJob::new(ERASE, &ErasureJobPayload { erasure })?.unique(erasure.to_string()))
}

/// For when it has ended so long ago that nobody sends a message of then again.
pub(crate) fn build_cleanup(erasure: ErasureId) -> Result<NewJob, Error> {
    Ok(NewJob::new(REMOVE_MESSAGE_IDS, &ErasureJobPayload { erasure })?.unique(erasure.to_string()))
}

pub fn install(service: ErasureService, registry: &mut JobRegistry) {
    let (resuming, cleaning) = (service.clone(), service.clone());
    registry.add(JobKind::new(ERASE).limit(1), move |job: Job| {
        let service = service.clone();
        async move {
            let ErasureJobPayload { erasure } = job.read()?;
            service.carry_out(job.tenant, erasure).await?;
            Ok::<(), JobFailure>(())
        }
    });
    registry.add(JobKind::new(REMOVE_MESSAGE_IDS).limit(1), move |job: Job| {
        let service = cleaning.clone();
        async move {
            let ErasureJobPayload { erasure } = job.read()?;
            service.remove_message_ids(job.tenant, erasure).await?;
            Ok::<(), JobFailure>(())
        }
    });
    registry.add(JobKind::new(RESUME).limit(1), move |_| {
        let service = resuming.clone();
        async move {
            service.resume_open().await?;
            Ok::<(), JobFailure>(())
        }
    });
}

/// Has erasures without a job looked for every hour, on one node.
pub async fn set_schedule(db: &Db, clock: &dyn Clock) -> munshi_jobs::Result<()> {
    let now = clock.now();
    let hourly = Schedule::new(RESUME, RESUME, &(), ScheduleRule::cron(HOURLY)?)?;
    db.write(TenantId::PLATFORM, move |tx| schedule::set(tx, &hourly, &Zone::default(), now)).await
}

impl From<Error> for JobFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            error => Self::Passing(error.to_string()),
        }
    }
}
