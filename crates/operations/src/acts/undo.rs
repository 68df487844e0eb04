//! Takes back what an agent did.

use munshi_agent::undo::{UndoOutcome, UndoRequest};
use munshi_identity::keys::{ApiAccess, Area, KeySpeaker};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_safety::acts::{self, UndoRefusal};
use munshi_types::ActId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::ActInput;
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

/// What came of taking an act back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = UndoneAct)]
pub struct UndoneActView {
    #[schema(value_type = uuid::Uuid)]
    pub act: ActId,
    /// The act that takes it back.
    #[schema(value_type = uuid::Uuid)]
    pub undone_by: ActId,
    /// `done`, `waiting` for a yes, `running`, `refused`, `failed`, or `unknown`.
    #[schema(example = "done")]
    pub state: String,
    /// Why, where it is not done.
    pub detail: Option<String>,
}

pub struct UndoAct;

impl Operation<HouseServices> for UndoAct {
    type Input = ActInput;
    type View = UndoneActView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "acts",
        noun: "act",
        command: "acts",
        verb: "undo",
        about: "Take back what an agent did, where its tool can and while it is offered. The undo is an act itself.",
        needs: CallerClass::Member(Area::Approvals, ApiAccess::Write),
        effect: OperationEffect::Write(&["act.undo_asked"]),
        method: RouteMethod::Post,
        path: "/v1/acts/{id}/undo",
    };

    async fn run(call: &HouseCall, input: ActInput) -> Result<UndoneActView, OperationError> {
        let engine = call.services.engine.clone().ok_or_else(needs_server)?;
        // Somebody at the machine has no engine here, and asks a server as whoever their key stands for.
        let who = call.caller.api_caller().map(|api| api.principal.clone()).ok_or_else(needs_server)?;
        let (caller, id, person) = (call.caller.clone(), input.id, who.person);
        let noted = call.write(move |tx| {
            let act = acts::find(tx, id)?;
            let act = act.filter(|act| act.binding.is_none_or(|binding| caller.reaches(binding)));
            let act = act.ok_or_else(|| OperationError::not_found("act", &id.to_string()))?;
            tx.note("act.undo_asked", id.to_string(), json!({ "tool": act.tool, "person": person }));
            Ok(())
        });
        noted.await?;
        let is_program = call.caller.speaks_as() == KeySpeaker::Program;
        let request = UndoRequest { act: id, who, key: call.caller.api_key(), is_program };
        let outcome = engine.undo_act(request).await.map_err(convert_turn_error)?;
        render_outcome(id, outcome)
    }
}

fn needs_server() -> OperationError {
    OperationError::new(OperationErrorCode::Unavailable, "An undo calls a tool, which only a server does.")
        .hint("Start `munshi serve`, and name it with --server.")
}

fn render_outcome(act: ActId, outcome: UndoOutcome) -> Result<UndoneActView, OperationError> {
    match outcome {
        UndoOutcome::Called { undone_by, state, detail } => {
            Ok(UndoneActView { act, undone_by, state: state.as_str().to_owned(), detail })
        }
        UndoOutcome::Refused(refusal) => Err(describe_refusal(act, refusal)),
    }
}

fn describe_refusal(act: ActId, refusal: UndoRefusal) -> OperationError {
    let conflict = |what: String| OperationError::new(OperationErrorCode::Conflict, what);
    match refusal {
        UndoRefusal::NoAct => OperationError::not_found("act", &act.to_string()),
        UndoRefusal::NotDone => {
            conflict("This act was not done, or not surely: there is nothing to take back.".to_owned())
        }
        UndoRefusal::NoWay => conflict("The tool of this act can't take it back.".to_owned()),
        UndoRefusal::Over(until) => conflict(format!("This act could be taken back until {until}.")),
        UndoRefusal::Begun(by) => {
            conflict("This act was taken back before, or that is under way.".to_owned())
                .hint(format!("See act {by}."))
        }
    }
}
