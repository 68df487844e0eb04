//! One run and its steps.

use munshi_agent::runs::{self, RunView};
use munshi_agent::steps;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::RunId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RunWithStepsView;
use crate::{HouseCall, HouseServices};

/// The run that is meant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunInput {
    /// The run.
    #[schema(value_type = uuid::Uuid)]
    pub id: RunId,
}

pub struct ShowRun;

impl Operation<HouseServices> for ShowRun {
    type Input = RunInput;
    type View = RunWithStepsView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "runs",
        noun: "run",
        command: "runs",
        verb: "show",
        about: "Get a run and its steps.",
        needs: CallerClass::Member(Area::Runs, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/runs/{id}",
    };

    async fn run(call: &HouseCall, input: RunInput) -> Result<RunWithStepsView, OperationError> {
        let caller = call.caller.clone();
        let read = call.read(move |tx| {
            let run = runs::find(tx, input.id)?.map(RunView::from);
            let run = run.filter(|run| caller.reaches(run.binding));
            let run = run.ok_or_else(|| OperationError::not_found("run", &input.id.to_string()))?;
            Ok((run, steps::list(tx, input.id)?))
        });
        let (run, steps) = read.await?;
        Ok(RunWithStepsView { run: run.into(), steps: steps.into_iter().map(Into::into).collect() })
    }
}
