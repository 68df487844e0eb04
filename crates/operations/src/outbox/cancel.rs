//! Takes a message back before it leaves.

use munshi_conversations::outbox::{self, OutboxChange, OutboxWish};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde_json::json;

use super::{OutgoingMessageInput, OutgoingMessageView, find, not_found, not_now};
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

pub struct CancelOutgoingMessage;

impl Operation<HouseServices> for CancelOutgoingMessage {
    type Input = OutgoingMessageInput;
    type View = OutgoingMessageView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "outgoing-messages",
        noun: "outgoing message",
        command: "outbox",
        verb: "cancel",
        about: "Take back a message that waits, or take one off the list that was given up or may have arrived: it is not sent \
                again.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Write),
        effect: OperationEffect::Write(&["outbox.cancelled"]),
        method: RouteMethod::Post,
        path: "/v1/outbox/{id}/cancel",
    };

    async fn run(
        call: &HouseCall,
        input: OutgoingMessageInput,
    ) -> Result<OutgoingMessageView, OperationError> {
        let (caller, ids, now) = (call.caller.clone(), call.ids.clone(), call.now);
        let queue = call.services.job_queue();
        let cancelled = call.write(move |tx| {
            let before = find(tx, &caller, input.id)?;
            let wish = OutboxWish { message: input.id, queue: &queue, ids: &ids, now };
            match outbox::cancel(tx, &wish).map_err(convert_turn_error)? {
                OutboxChange::Done(after) => {
                    tx.note("outbox.cancelled", input.id.to_string(), json!({ "was": before.state }));
                    Ok(*after)
                }
                OutboxChange::NotNow(state) => Err(not_now(input.id, state)),
                OutboxChange::Missing | OutboxChange::MayDouble => Err(not_found(input.id)),
            }
        });
        Ok(cancelled.await?.into())
    }
}
