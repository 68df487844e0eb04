//! What a decision reads and sets aside: the database in the turn's own transaction, or memory in a test.

use munshi_types::{ApprovalId, Timestamp};

use super::ask::Ask;
use super::consent::{Needs, Reason};
use crate::error::Result;

/// A person's word for an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// For exactly this act, by whom the question needed.
    Act(ApprovalId, Needs),
    /// For this tool on this scope, for this person in this conversation.
    Session(ApprovalId),
}

/// No room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Full {
    /// Which limit, and when it frees, in words.
    pub which: String,
    /// None where nobody can tell.
    pub frees_at: Option<Timestamp>,
}

pub trait Ground {
    /// Counts a call and sets its cost aside; or says what is full.
    fn take(&mut self, ask: &Ask<'_>) -> Result<Option<Full>>;

    /// What a person has said about this act: found by the act itself, never by anything the model says.
    fn given(&mut self, ask: &Ask<'_>, reasons: &[Reason]) -> Result<Option<Given>>;

    /// Whether a recipient belongs to an audience.
    fn belongs(&mut self, recipient: &str, audience: &str) -> Result<bool>;
}
