//! Stops a run.

use munshi_agent::RunCancelOutcome;
use munshi_conversations::cancel;
use munshi_conversations::runs::{self, CancelRequestOutcome};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationCaller, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::RunId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::RunInput;
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

/// The result of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Cancelled)]
pub struct CancelledRunView {
    #[schema(value_type = uuid::Uuid)]
    pub run: RunId,
    /// False if the run had already ended.
    pub cancelled: bool,
}

pub struct CancelRun;

impl Operation<HouseServices> for CancelRun {
    type Input = RunInput;
    type View = CancelledRunView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "runs",
        noun: "run",
        command: "runs",
        verb: "cancel",
        about: "Cancel a run on any node. The current step is finished first, so nothing is left half done.",
        needs: CallerClass::Member(Area::Chat, ApiAccess::Write),
        effect: OperationEffect::Write(&["run.cancelled"]),
        method: RouteMethod::Post,
        path: "/v1/runs/{id}/cancel",
    };

    async fn run(call: &HouseCall, input: RunInput) -> Result<CancelledRunView, OperationError> {
        let (caller, ids, now) = (call.caller.clone(), call.ids.clone(), call.now);
        let engine = call.services.engine.clone();
        let has_engine = engine.is_some();
        let cancelled = call.write(move |tx| {
            let run = runs::find(tx, input.id)?.filter(|run| may_stop(&caller, run));
            let run = run.ok_or_else(|| OperationError::not_found("run", &input.id.to_string()))?;
            let asked = match has_engine {
                true => runs::request_cancel(tx, run.id, now)?,
                false => cancel::request_unattended(tx, &ids, run.id, now).map_err(convert_turn_error)?,
            };
            let is_asked = !matches!(asked, CancelRequestOutcome::Ended | CancelRequestOutcome::NoRun);
            if is_asked && !run.cancel_asked {
                let payload = json!({ "person": run.person(), "binding": run.binding() });
                tx.note("run.cancelled", run.id.to_string(), payload);
            }
            Ok(is_asked)
        });
        let cancelled = cancelled.await?;
        if let Some(engine) = engine.filter(|_| cancelled) {
            let stopped = engine.cancel(call.tenant.id, input.id).await.map_err(convert_turn_error)?;
            return Ok(CancelledRunView { run: input.id, cancelled: stopped == RunCancelOutcome::Asked });
        }
        Ok(CancelledRunView { run: input.id, cancelled })
    }
}

/// Somebody who may only chat stops their own turns.
fn may_stop(caller: &OperationCaller, run: &runs::Run) -> bool {
    let is_theirs =
        caller.person().is_none_or(|person| Some(person) == run.person()) || caller.role().is_some();
    is_theirs && caller.reaches(run.binding())
}
