//! Runs a dead job again.

use munshi_jobs::{JOBS, JobState, dead_letters};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_types::TenantId;
use serde_json::json;

use super::show::find;
use super::{JobDetailView, JobInput};
use crate::{HouseCall, HouseServices};

pub struct RetryJob;

impl Operation<HouseServices> for RetryJob {
    type Input = JobInput;
    type View = JobDetailView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "jobs",
        noun: "job",
        command: "jobs",
        verb: "retry",
        about: "Retry a dead job, with all its attempts again.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["job.retried"]),
        method: RouteMethod::Post,
        path: "/v1/jobs/{id}/retry",
    };

    async fn run(call: &HouseCall, input: JobInput) -> Result<JobDetailView, OperationError> {
        let (id, now) = (input.id, call.now);
        call.write_platform(JOBS, move |tx| {
            let before = find(tx, id)?;
            if !dead_letters::retry(tx, id, now)? {
                let message = format!("Job {id} is {}, not {}.", before.state, JobState::Dead);
                return Err(OperationError::new(OperationErrorCode::NotFound, message)
                    .hint("`munshi jobs list` shows dead jobs."));
            }
            let payload = json!({ "kind": before.kind, "tenant": before.tenant });
            tx.note([TenantId::PLATFORM], "job.retried", id.to_string(), payload);
            find(tx, id)
        })
        .await
    }
}
