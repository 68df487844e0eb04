//! What the agent would say next in a conversation, for the colleague who asks.

use munshi_agent::ReplyDraftOutcome;
use munshi_conversations::Error as TurnError;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_types::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::find_colleague_in;
use crate::sessions::{SessionInput, find};
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

/// A proposal of the agent. It is stored nowhere and said to nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ReplyDraft)]
pub struct ReplyDraftView {
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// The number of the message behind which it would stand.
    pub after: i64,
    #[schema(example = "We open at nine tomorrow.")]
    pub text: String,
}

pub struct DraftReply;

impl Operation<HouseServices> for DraftReply {
    type Input = SessionInput;
    type View = ReplyDraftView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "sessions",
        noun: "session",
        command: "sessions",
        verb: "draft",
        about: "Ask the agent what it would say next in a session. Nobody else sees it, nothing is stored as said and no tool is \
                called. The tenant's budget for background work pays. The audit notes that you asked.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Write),
        effect: OperationEffect::Write(&["conversation.draft_requested"]),
        method: RouteMethod::Post,
        path: "/v1/sessions/{id}/draft",
    };

    async fn run(call: &HouseCall, input: SessionInput) -> Result<ReplyDraftView, OperationError> {
        let Some(engine) = &call.services.engine else {
            let what = "Only a running server asks its models for a draft.";
            return Err(OperationError::new(OperationErrorCode::Unavailable, what)
                .hint("Add `--server URL`, or ask on the desk's page."));
        };
        let caller = call.caller.clone();
        let asked = call.write(move |tx| {
            let session = find(tx, &caller, input.id)?;
            let colleague = find_colleague_in(&caller, &session)?;
            tx.note(
                "conversation.draft_requested",
                session.id.to_string(),
                json!({ "by": colleague, "person": session.person }),
            );
            Ok(session.id)
        });
        let session = asked.await?;
        match engine.draft_reply(call.tenant.id, session).await {
            Ok(ReplyDraftOutcome::Written { text, after }) => Ok(ReplyDraftView { session, after, text }),
            Ok(ReplyDraftOutcome::NothingSaid) => {
                let what = "Nothing was said in this session that a draft could answer.";
                Err(OperationError::new(OperationErrorCode::Conflict, what))
            }
            Ok(ReplyDraftOutcome::OverBudget(what)) => {
                let what = format!("The tenant's budget for background work is used up: {what}.");
                Err(OperationError::new(OperationErrorCode::TooManyRequests, what)
                    .hint("`munshi usage show` has the limits."))
            }
            Ok(ReplyDraftOutcome::Unavailable(why)) => {
                let what = format!("No draft can be made now: {why}.");
                Err(OperationError::new(OperationErrorCode::Unavailable, what).hint("Try again in a moment."))
            }
            Err(TurnError::NoRun) => Err(OperationError::not_found("session", &input.id.to_string())),
            Err(error) => Err(convert_turn_error(error)),
        }
    }
}
