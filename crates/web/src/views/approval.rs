//! Questions before an act.

use munshi_safety::approvals::{Approval as Stored, ApprovalStatus as Stands};
use munshi_types::{ActId, ApprovalId, PersonId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// How a question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApprovalState {
    Pending,
    Granted,
    Refused,
    Expired,
}

impl From<Stands> for ApprovalState {
    fn from(state: Stands) -> Self {
        match state {
            Stands::Pending => Self::Pending,
            Stands::Granted => Self::Granted,
            Stands::Refused => Self::Refused,
            Stands::Expired => Self::Expired,
        }
    }
}

/// A question to a person: may this be done, or did it happen?
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Approval)]
pub(crate) struct ApprovalView {
    #[schema(value_type = Uuid)]
    id: ApprovalId,
    #[schema(value_type = Uuid)]
    act: ActId,
    /// `act` for "may it be done?", `outcome` for "did it happen?".
    #[schema(example = "act")]
    kind: &'static str,
    tool: String,
    session: Option<Uuid>,
    /// Who wanted it.
    #[schema(value_type = Option<Uuid>)]
    asked_by: Option<PersonId>,
    /// What will happen, in plain words; long values are cut.
    words: String,
    /// To the letter, as they were proposed.
    arguments: Value,
    /// What the tool would be given, where that differs.
    leaving: Option<Value>,
    /// Why it is asked, whose yes it needs, and how risky it is.
    question: Value,
    /// What a rehearsal gave.
    rehearsal: Option<Value>,
    /// What the answer is for: send it back with the answer.
    digest: String,
    state: ApprovalState,
    #[schema(value_type = String, format = DateTime)]
    asked_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    #[schema(value_type = Option<Uuid>)]
    answered_by: Option<PersonId>,
    /// Through what the answer came.
    #[schema(example = "api")]
    answered_via: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    answered_at: Option<Timestamp>,
}

impl From<Stored> for ApprovalView {
    fn from(approval: Stored) -> Self {
        Self {
            id: approval.id,
            act: approval.act,
            kind: approval.kind.as_str(),
            tool: approval.tool,
            session: approval.session,
            asked_by: approval.asked_by,
            words: approval.words,
            arguments: approval.arguments,
            leaving: approval.leaving,
            question: serde_json::to_value(&approval.question).unwrap_or_default(),
            rehearsal: approval.rehearsal,
            digest: approval.digest.to_string(),
            state: approval.state.into(),
            asked_at: approval.asked_at,
            expires_at: approval.expires_at,
            answered_by: approval.answered_by,
            answered_via: approval.answered_via,
            answered_at: approval.answered_at,
        }
    }
}
