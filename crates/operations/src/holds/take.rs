//! Takes a conversation over.

use munshi_conversations::holds::{self, TakeOutcome};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde_json::json;

use super::{HoldView, find_colleague_in, held_by_another};
use crate::sessions::{SessionInput, find};
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

pub struct TakeSession;

impl Operation<HouseServices> for TakeSession {
    type Input = SessionInput;
    type View = HoldView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "sessions",
        noun: "session",
        command: "sessions",
        verb: "take",
        about: "Take a session over from the agent: what comes in is stored and not answered, and you write in it as yourself. One \
                person has it at a time. What the agent was asked before is still finished.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Write),
        effect: OperationEffect::Write(&["conversation.taken_over"]),
        method: RouteMethod::Post,
        path: "/v1/sessions/{id}/take",
    };

    async fn run(call: &HouseCall, input: SessionInput) -> Result<HoldView, OperationError> {
        let (caller, id, now) = (call.caller.clone(), call.ids.next(), call.now);
        let queue = call.services.job_queue();
        let taken = call.write(move |tx| {
            let session = find(tx, &caller, input.id)?;
            let colleague = find_colleague_in(&caller, &session)?;
            let taken = holds::take(tx, &queue, session.id, colleague, (id, now));
            let hold = match taken.map_err(convert_turn_error)? {
                TakeOutcome::Taken(hold) => hold,
                TakeOutcome::AlreadyHeld(hold) if hold.by == colleague => {
                    return Ok(HoldView::new(session.id, Some(hold)));
                }
                TakeOutcome::AlreadyHeld(hold) => return Err(held_by_another(&hold)),
                TakeOutcome::Gone => {
                    return Err(OperationError::not_found("session", &input.id.to_string()));
                }
            };
            tx.note(
                "conversation.taken_over",
                session.id.to_string(),
                json!({ "hold": hold.id, "by": colleague, "person": session.person }),
            );
            Ok(HoldView::new(session.id, Some(hold)))
        });
        taken.await
    }
}
