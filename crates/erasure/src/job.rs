//! Going on with what whoever asked could not end.

use munshi_jobs::{Job, JobFailure, JobKind, JobRegistry};
use munshi_types::ErasureId;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::service::ErasureService;

pub const ERASE: &str = "erasure.carry_out";

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ErasureJobPayload {
    pub(crate) erasure: ErasureId,
}

pub fn install(service: ErasureService, registry: &mut JobRegistry) {
    registry.add(JobKind::new(ERASE).limit(1), move |job: Job| {
        let service = service.clone();
        async move {
            let ErasureJobPayload { erasure } = job.read()?;
            service.carry_out(job.tenant, erasure).await?;
            Ok::<(), JobFailure>(())
        }
    });
}

impl From<Error> for JobFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            error => Self::Passing(error.to_string()),
        }
    }
}
