//! One run and its steps.

use munshi_conversations::runs::{self, RunView};
use munshi_conversations::steps;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_llm::calls;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::{Id, RunId};
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
        about: "Get a run, its steps and its calls of models.",
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
            Ok((run, steps::list(tx, input.id)?, calls::list_of_run(tx, input.id.as_uuid())?))
        });
        let (run, steps, calls) = read.await?;
        let steps = steps.into_iter().map(Into::into).collect();
        Ok(RunWithStepsView { run: run.into(), steps, calls: calls.into_iter().map(Into::into).collect() })
    }
}
