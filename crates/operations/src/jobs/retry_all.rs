//! Runs all dead jobs again.

use munshi_jobs::{JOBS, dead_letters, load_queue_depth};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = JobsRetry)]
pub struct RetryAllJobsInput {
    /// Only jobs of this kind.
    pub kind: Option<String>,
}

/// How many jobs were queued again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RetriedJobs)]
pub struct RetriedJobsView {
    pub retried: u64,
}

pub struct RetryAllJobs;

impl Operation<HouseServices> for RetryAllJobs {
    type Input = RetryAllJobsInput;
    type View = RetriedJobsView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "jobs",
        noun: "jobs",
        command: "jobs",
        verb: "retry",
        about: "Retry every dead job; one whose work is queued already stays where it is.",
        needs: CallerClass::Keeper,
        effect: OperationEffect::Write(&["job.retried"]),
        method: RouteMethod::Post,
        path: "/v1/jobs/retry",
    };

    /// Goes on in steps, and never beyond as many as there were: a job that dies again at once must not keep us here.
    async fn run(call: &HouseCall, input: RetryAllJobsInput) -> Result<RetriedJobsView, OperationError> {
        let depth = call.read_platform(JOBS, |tx| Ok(load_queue_depth(tx)?)).await?;
        let (most, now) = (u64::try_from(depth.dead).unwrap_or(0), call.now);
        let mut retried = 0;
        while retried < most {
            let kind = input.kind.clone();
            let step = call.write_platform(JOBS, move |tx| {
                let count = dead_letters::retry_all(tx, kind.as_deref(), now)?;
                if count > 0 {
                    let payload = json!({ "kind": kind, "count": count });
                    tx.note([TenantId::PLATFORM], "job.retried", "all", payload);
                }
                Ok(count)
            });
            match step.await? {
                0 => break,
                some => retried += some,
            }
        }
        Ok(RetriedJobsView { retried })
    }
}
