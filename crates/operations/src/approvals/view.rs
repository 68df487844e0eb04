//! An approval as it is shown.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::persons;
use munshi_pack::operation::{CallerClass, OperationCaller, OperationError};
use munshi_safety::acts;
use munshi_safety::approvals::{Approval, ApprovalStatus};
use munshi_safety::pipeline::{CallerAudience, ConsentQuestion};
use munshi_store::Tx;
use munshi_types::{ActId, ApprovalId, PersonId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// The state of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Pending,
    Granted,
    Refused,
    Expired,
}

impl ApprovalState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Granted => "granted",
            Self::Refused => "refused",
            Self::Expired => "expired",
        }
    }
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Approval)]
pub struct ApprovalView {
    #[schema(value_type = Uuid)]
    pub id: ApprovalId,
    #[schema(value_type = Uuid)]
    pub act: ActId,
    /// `act` to ask whether it may be executed, `outcome` to ask whether it happened.
    #[schema(example = "act")]
    pub kind: String,
    pub tool: String,
    pub session: Option<Uuid>,
    /// The person who requested the act.
    #[schema(value_type = Option<Uuid>)]
    pub asked_by: Option<PersonId>,
    /// What will happen, in plain words; long values are truncated.
    pub words: String,
    /// The exact arguments as proposed.
    pub arguments: Value,
    /// The arguments the tool receives, if they differ.
    pub leaving: Option<Value>,
    /// The reason, who may grant it, and the risk.
    #[schema(value_type = Value)]
    pub question: ConsentQuestion,
    /// The result of a dry run.
    pub rehearsal: Option<Value>,
    /// Identifies what is answered: send it back with the answer.
    pub digest: String,
    pub state: ApprovalState,
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    #[schema(value_type = Option<Uuid>)]
    pub answered_by: Option<PersonId>,
    /// The surface through which it was answered.
    #[schema(example = "api")]
    pub answered_via: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub answered_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub used_at: Option<Timestamp>,
    /// Since when it waits for somebody above, because nobody had answered.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub escalated_at: Option<Timestamp>,
    #[schema(value_type = Option<Vec<Uuid>>)]
    pub escalated_to: Option<Vec<PersonId>>,
    /// Names are for those who may look at people.
    pub asked_by_name: Option<String>,
    pub answered_by_name: Option<String>,
    pub escalated_to_names: Vec<String>,
    /// Through which kind of binding it was asked for: `private`, `work`, `public`, `distribution` or `agents`.
    #[schema(value_type = Option<String>, example = "work")]
    pub door: Option<CallerAudience>,
}

/// An approval after an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = AnsweredApproval)]
pub struct AnsweredApprovalView {
    #[serde(flatten)]
    pub approval: ApprovalView,
    /// False if it was answered this way before.
    pub changed: bool,
    /// How far a grant goes: `act` or `session`; null for a refusal.
    #[schema(example = "act")]
    pub covers: Option<String>,
}

impl ApprovalView {
    pub(super) fn load(
        tx: &mut Tx<'_>,
        caller: &OperationCaller,
        approval: Approval,
    ) -> Result<Self, OperationError> {
        let may_look = caller.authorize(CallerClass::Member(Area::Persons, ApiAccess::Read)).is_ok();
        let mut name = |id: Option<PersonId>| match id.filter(|_| may_look) {
            None => Ok(None),
            Some(id) => persons::find(tx, id).map(|person| person.map(|person| person.name)),
        };
        let (asked_by_name, answered_by_name) = (name(approval.asked_by)?, name(approval.answered_by)?);
        let above = approval.escalated_to.iter().flatten();
        let names = above.map(|id| name(Some(*id))).collect::<Result<Vec<_>, _>>()?;
        let door = acts::find(tx, approval.act)?.map(|act| act.rests_on.caller.door);
        Ok(Self {
            id: approval.id,
            act: approval.act,
            kind: approval.kind.as_str().to_owned(),
            tool: approval.tool,
            session: approval.session,
            asked_by: approval.asked_by,
            words: approval.words,
            arguments: approval.arguments,
            leaving: approval.leaving,
            question: approval.question,
            rehearsal: approval.rehearsal,
            digest: approval.digest.to_string(),
            state: approval.state.into(),
            asked_at: approval.asked_at,
            expires_at: approval.expires_at,
            answered_by: approval.answered_by,
            answered_via: approval.answered_via,
            answered_at: approval.answered_at,
            used_at: approval.used_at,
            escalated_at: approval.escalated_at,
            escalated_to: approval.escalated_to,
            asked_by_name,
            answered_by_name,
            escalated_to_names: names.into_iter().flatten().collect(),
            door,
        })
    }
}
