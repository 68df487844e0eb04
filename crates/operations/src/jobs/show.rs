//! One job.

use munshi_jobs::{JOBS, dead_letters};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::PlatformTx;
use munshi_types::JobId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::JobDetailView;
use super::list::find_name;
use crate::{HouseCall, HouseServices};

/// The job that is meant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobInput {
    /// The job.
    #[schema(value_type = uuid::Uuid)]
    pub id: JobId,
}

pub struct ShowJob;

impl Operation<HouseServices> for ShowJob {
    type Input = JobInput;
    type View = JobDetailView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "jobs",
        noun: "job",
        command: "jobs",
        verb: "show",
        about: "Show a background job.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/jobs/{id}",
    };

    async fn run(call: &HouseCall, input: JobInput) -> Result<JobDetailView, OperationError> {
        call.read_platform(JOBS, move |tx| find(tx, input.id)).await
    }
}

pub(super) fn find(tx: &mut PlatformTx<'_>, id: JobId) -> Result<JobDetailView, OperationError> {
    let job = dead_letters::find(tx, id)?.ok_or_else(|| not_found(id))?;
    let name = find_name(tx, job.tenant)?;
    Ok(JobDetailView::new(job, name))
}

fn not_found(id: JobId) -> OperationError {
    OperationError::not_found("job", &id.to_string()).hint("`munshi jobs list` shows dead jobs.")
}
