//! One outgoing message, with its words.

use munshi_conversations::outbox;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::MessageId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{OutgoingMessageContentView, find, not_found};
use crate::{HouseCall, HouseServices};

/// The message that is meant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutgoingMessageInput {
    /// The message.
    #[schema(value_type = uuid::Uuid)]
    pub id: MessageId,
}

pub struct ShowOutgoingMessage;

impl Operation<HouseServices> for ShowOutgoingMessage {
    type Input = OutgoingMessageInput;
    type View = OutgoingMessageContentView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "outgoing-messages",
        noun: "outgoing message",
        command: "outbox",
        verb: "show",
        about: "Get an outgoing message with its words and its address. The audit notes who opened somebody else's.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["outbox.opened"]),
        method: RouteMethod::Get,
        path: "/v1/outbox/{id}",
    };

    async fn run(
        call: &HouseCall,
        input: OutgoingMessageInput,
    ) -> Result<OutgoingMessageContentView, OperationError> {
        let caller = call.caller.clone();
        let shown = call.read_audited(move |tx| {
            let row = find(tx, &caller, input.id)?;
            let body = outbox::find_body(tx, input.id)?.ok_or_else(|| not_found(input.id))?;
            if row.person.is_none() || caller.person() != row.person {
                let payload = json!({ "person": row.person, "session": row.session });
                tx.note("outbox.opened", input.id.to_string(), payload);
            }
            Ok(OutgoingMessageContentView::new(row, body))
        });
        shown.await
    }
}
