//! Gives a conversation back to the agent.

use munshi_conversations::holds;
use munshi_identity::Role;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde_json::json;

use super::{HoldView, held_by_another};
use crate::sessions::{SessionInput, find};
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

pub struct GiveBackSession;

impl Operation<HouseServices> for GiveBackSession {
    type Input = SessionInput;
    type View = HoldView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "sessions",
        noun: "session",
        command: "sessions",
        verb: "give-back",
        about: "Give a session back to the agent, which answers the next message. An admin can do it for whoever has it in hand.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Write),
        effect: OperationEffect::Write(&["conversation.given_back"]),
        method: RouteMethod::Post,
        path: "/v1/sessions/{id}/give-back",
    };

    async fn run(call: &HouseCall, input: SessionInput) -> Result<HoldView, OperationError> {
        let (caller, now) = (call.caller.clone(), call.now);
        let given = call.write(move |tx| {
            let session = find(tx, &caller, input.id)?;
            let Some(hold) = session.hold else { return Ok(HoldView::new(session.id, None)) };
            let is_theirs = caller.person() == Some(hold.by);
            if !is_theirs && !caller.covers_role(Some(Role::Admin)) {
                return Err(held_by_another(&hold));
            }
            if holds::give_back(tx, session.id, hold.id, now).map_err(convert_turn_error)? {
                tx.note(
                    "conversation.given_back",
                    session.id.to_string(),
                    json!({ "hold": hold.id, "held_by": hold.by, "person": session.person }),
                );
                return Ok(HoldView::new(session.id, None));
            }
            // It became part of another, or was taken anew, since it was read.
            let current = find(tx, &caller, input.id)?;
            match current.hold {
                None => Ok(HoldView::new(current.id, None)),
                Some(hold) => Err(held_by_another(&hold)),
            }
        });
        given.await
    }
}
