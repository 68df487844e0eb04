//! Questions to a person: may this be done, and did it happen? Asked once, answered once, used once.
//!
//! [`answer`] is the one way to say yes or no, for the API, the command line and the chat alike.

mod answer;
mod expire;
mod row;
mod whom;
mod withdraw;

use munshi_types::{ActId, ApprovalId, PersonId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::acts::ActDigest;
use crate::pipeline::ConsentQuestion;

pub use answer::{ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision, answer};
pub use expire::{ApprovalExpiry, ApprovalExpiryOutcome, ExpiredApproval, due, expire};
pub use row::{ApprovalFilter, beginning_with, find, list, move_asker, move_session, of_act, pending_in};
pub(crate) use row::{ask_outcome, attach, give_back, granted_for, open, take_up, waived};
pub use whom::{ApproverChain, is_for, whom};
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
    #[serde(serialize_with = "shown")]
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

fn shown<S: serde::Serializer>(digest: &ActDigest, serializer: S) -> Result<S::Ok, S::Error> {
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
