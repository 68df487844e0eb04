//! What the agent proposes to whoever has a conversation in hand.

use munshi_conversations::session_waits::{self, HeldDraft};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_types::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::sessions::{SessionInput, find_opened};
use crate::{HouseCall, HouseServices};

/// What the agent proposes to say in a session that somebody has in hand. Nobody was told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = HeldDraft)]
pub struct HeldDraftView {
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// The number of the message behind which it would stand. Null where nothing is proposed.
    pub after: Option<i64>,
    #[schema(example = "We open at nine tomorrow.")]
    pub text: Option<String>,
}

impl HeldDraftView {
    fn new(session: SessionId, draft: Option<HeldDraft>) -> Self {
        let (after, text) = draft.map(|draft| (draft.after, draft.text)).unzip();
        Self { session, after, text }
    }
}

pub struct ShowHeldDraft;

impl Operation<HouseServices> for ShowHeldDraft {
    type Input = SessionInput;
    type View = HeldDraftView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "drafts",
        noun: "draft",
        command: "drafts",
        verb: "show",
        about: "Get what the agent proposes to say in a session that somebody has in hand, where its team has `held_drafts`. The audit \
                notes who opened it.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["conversation.opened"]),
        method: RouteMethod::Get,
        path: "/v1/sessions/{id}/draft",
    };

    async fn run(call: &HouseCall, input: SessionInput) -> Result<HeldDraftView, OperationError> {
        let caller = call.caller.clone();
        let found = call.read_audited(move |tx| {
            let session = find_opened(tx, &caller, input.id)?;
            // In their own conversation they are the customer, to whom nothing is proposed.
            if caller.person() == Some(session.person) {
                let what = "This is your own conversation: what is proposed in it is for others.";
                return Err(OperationError::new(OperationErrorCode::Forbidden, what));
            }
            Ok(HeldDraftView::new(session.id, session_waits::find_draft(tx, session.id)?))
        });
        found.await
    }
}
