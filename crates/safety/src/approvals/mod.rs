//! Questions to a person: may this be done, and did it happen? Asked once, answered once, used once.
//!
//! [`answer`] is the one way to say yes or no, for the API, the command line and the chat alike.

mod answer;
mod approvers;
mod expire;
mod store;
mod withdraw;

use munshi_types::{ActId, ApprovalId, PersonId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::acts::ActDigest;
use crate::pipeline::ConsentQuestion;

pub(crate) use answer::is_own_word;
pub use answer::{
    AnswerSource, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision, answer,
    may_take_back,
};
pub use approvers::{ApproverChain, ApproverPool, is_addressed_to, resolve_approvers};
pub use expire::{ApprovalExpiry, ApprovalExpiryOutcome, ExpiredApproval, expire, list_due};
pub(crate) use store::APPROVALS_OF_BEFORE;
pub use store::{
    ApprovalFilter, find, find_by_act, list, list_by_prefix, list_pending, list_pending_ids,
    list_pending_since, move_asker, move_session,
};
pub(crate) use store::{
    ask_outcome, attach_rehearsal, find_direct_purpose_question, find_grant, find_session_grant, insert,
    is_purpose_refused, redeem, reinstate,
};
pub use withdraw::{WITHDRAWN, withdraw};

/// A question as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub act: ActId,
    pub kind: ApprovalKind,
    pub tool: String,
    #[serde(skip)]
    pub scope: String,
    pub session: Option<Uuid>,
    /// Who wanted it.
    pub asked_by: Option<PersonId>,
    /// What will happen, in plain words; long values are cut.
    pub words: String,
    /// To the letter, as they were proposed.
    pub arguments: Value,
    /// What the tool would be given, where that differs.
    pub leaving: Option<Value>,
    pub question: ConsentQuestion,
    /// What a rehearsal gave.
    pub rehearsal: Option<Value>,
    /// What the answer is for: shown, and compared.
    #[serde(serialize_with = "serialize_digest")]
    pub digest: ActDigest,
    pub state: ApprovalStatus,
    pub asked_at: Timestamp,
    pub expires_at: Timestamp,
    pub answered_by: Option<PersonId>,
    /// Through what the answer came: `chat`, `cli`, `api`.
    pub answered_via: Option<String>,
    pub answered_at: Option<Timestamp>,
    pub used_at: Option<Timestamp>,
    /// Since when it waits for somebody above, and for whom: nobody had answered until then.
    pub escalated_at: Option<Timestamp>,
    pub escalated_to: Option<Vec<PersonId>>,
}

impl Approval {
    /// The whole question, with the act in words of somebody's own language where there are any. What they agree to stands first, to the letter.
    pub fn render_question(&self, act: Option<String>) -> String {
        match (&self.question.purpose, act) {
            (Some(purpose), Some(act)) => format!("{}\n{act}", purpose.words),
            (None, Some(act)) => act,
            (_, None) => self.words.clone(),
        }
    }
}

fn serialize_digest<S: serde::Serializer>(digest: &ActDigest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(digest)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// May it be done?
    Act,
    /// Did it happen?
    Outcome,
}

impl ApprovalKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Outcome => "outcome",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    Pending,
    Granted,
    Refused,
    Expired,
}

impl ApprovalStatus {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Granted, Self::Refused, Self::Expired];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Granted => "granted",
            Self::Refused => "refused",
            Self::Expired => "expired",
        }
    }
}

/// A question to be asked.
pub(crate) struct NewApproval {
    pub act: ActId,
    pub kind: ApprovalKind,
    pub tool: String,
    pub scope: String,
    pub session: Option<Uuid>,
    pub asked_by: Option<PersonId>,
    pub words: String,
    pub question: ConsentQuestion,
    pub digest: ActDigest,
    pub hours: u16,
}
