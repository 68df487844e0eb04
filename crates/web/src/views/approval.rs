//! Questions before an act.

use munshi_safety::approvals::{Approval, ApprovalStatus};
use munshi_types::{ActId, ApprovalId, PersonId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// The state of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApprovalState {
    Pending,
    Granted,
    Refused,
    Expired,
}

impl From<ApprovalStatus> for ApprovalState {
    fn from(state: ApprovalStatus) -> Self {
        match state {
            ApprovalStatus::Pending => Self::Pending,
            ApprovalStatus::Granted => Self::Granted,
            ApprovalStatus::Refused => Self::Refused,
            ApprovalStatus::Expired => Self::Expired,
        }
    }
}

/// An approval: a question to a person whether an act may be executed, or whether it happened.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Approval)]
pub(crate) struct ApprovalView {
    #[schema(value_type = Uuid)]
    id: ApprovalId,
    #[schema(value_type = Uuid)]
    act: ActId,
    /// `act` to ask whether it may be executed, `outcome` to ask whether it happened.
    #[schema(example = "act")]
    kind: &'static str,
    tool: String,
    session: Option<Uuid>,
    /// The person who requested the act.
    #[schema(value_type = Option<Uuid>)]
    asked_by: Option<PersonId>,
    /// What will happen, in plain words; long values are truncated.
    words: String,
    /// The exact arguments as proposed.
    arguments: Value,
    /// The arguments the tool receives, if they differ.
    leaving: Option<Value>,
    /// The reason, who may grant it, and the risk.
    question: Value,
    /// The result of a dry run.
    rehearsal: Option<Value>,
    /// Identifies what is answered: send it back with the answer.
    digest: String,
    state: ApprovalState,
    #[schema(value_type = String, format = DateTime)]
    asked_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    #[schema(value_type = Option<Uuid>)]
    answered_by: Option<PersonId>,
    /// The surface through which it was answered.
    #[schema(example = "api")]
    answered_via: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    answered_at: Option<Timestamp>,
}

impl From<Approval> for ApprovalView {
    fn from(approval: Approval) -> Self {
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
