//! Sends a message again.

use munshi_conversations::outbox::{self, DuplicateConsent, OutboxChange, OutboxWish};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_types::MessageId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{OutgoingMessageView, find, not_found, not_now};
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

/// The message, and whether it may arrive twice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RetryOutgoingMessage)]
pub struct RetryOutgoingMessageInput {
    /// The message.
    #[schema(value_type = uuid::Uuid)]
    pub id: MessageId,
    /// Send it though it may have arrived: the recipient may get it twice. Needed for a message in state `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_arrive_twice: Option<bool>,
}

pub struct RetryOutgoingMessage;

impl Operation<HouseServices> for RetryOutgoingMessage {
    type Input = RetryOutgoingMessageInput;
    type View = OutgoingMessageView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "outgoing-messages",
        noun: "outgoing message",
        command: "outbox",
        verb: "retry",
        about: "Send a message again that was given up, or that may have arrived (`may_arrive_twice`). Opting out, quiet hours \
                and limits hold for it as for any other.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Write),
        effect: OperationEffect::Write(&["outbox.retried"]),
        method: RouteMethod::Post,
        path: "/v1/outbox/{id}/retry",
    };

    async fn run(
        call: &HouseCall,
        input: RetryOutgoingMessageInput,
    ) -> Result<OutgoingMessageView, OperationError> {
        let (caller, ids, now) = (call.caller.clone(), call.ids.clone(), call.now);
        let queue = call.services.job_queue();
        let consent = match input.may_arrive_twice {
            Some(true) => DuplicateConsent::Given,
            Some(false) | None => DuplicateConsent::NotGiven,
        };
        let retried = call.write(move |tx| {
            let before = find(tx, &caller, input.id)?;
            let wish = OutboxWish { message: input.id, queue: &queue, ids: &ids, now };
            match outbox::retry(tx, &wish, consent).map_err(convert_turn_error)? {
                OutboxChange::Done(after) => {
                    let payload = json!({ "was": before.state, "may_arrive_twice": input.may_arrive_twice });
                    tx.note("outbox.retried", input.id.to_string(), payload);
                    Ok(*after)
                }
                OutboxChange::Missing => Err(not_found(input.id)),
                OutboxChange::NotNow(state) => Err(not_now(input.id, state)),
                OutboxChange::MayDouble => {
                    let what = format!("Message {} may have arrived already.", input.id);
                    let hint = "Ask the recipient, then send `may_arrive_twice`, or cancel it.";
                    Err(OperationError::new(OperationErrorCode::Conflict, what).hint(hint))
                }
            }
        });
        Ok(retried.await?.into())
    }
}
