//! What a decision reads and sets aside: the database in the turn's own transaction, or memory in a test.

use munshi_types::{ApprovalId, ConsentPurposeName, Timestamp};

use super::consent::{ConsentGiver, ConsentReason};
use super::purpose::PurposeStanding;
use super::request::PolicyRequest;
use crate::error::Result;
use crate::policy::AuthorisedTemplate;

/// A person's word for an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentGrant {
    /// For exactly this act, by whom the question needed.
    Act(ApprovalId, ConsentGiver),
    /// For this tool on this scope, for this person in this conversation.
    Session(ApprovalId),
    /// For what the tool is for, and not for what else is to be asked about this act.
    Purpose(ApprovalId),
}

/// No room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExhaustedLimit {
    /// Which limit, and when it frees, in words.
    pub which: String,
    /// None where nobody can tell.
    pub frees_at: Option<Timestamp>,
}

pub trait DecisionStore {
    /// Counts a call and sets its cost aside; or says what is full.
    fn reserve(&mut self, ask: &PolicyRequest<'_>) -> Result<Option<ExhaustedLimit>>;

    /// What a person has said about this act: found by the act itself, never by anything the model says.
    fn find_consent(
        &mut self,
        ask: &PolicyRequest<'_>,
        reasons: &[ConsentReason],
    ) -> Result<Option<ConsentGrant>>;

    /// What the person whom a tool is about has said about what it is for.
    fn find_purpose_consent(
        &mut self,
        ask: &PolicyRequest<'_>,
        purpose: &ConsentPurposeName,
    ) -> Result<PurposeStanding>;

    /// Whether a recipient belongs to an audience.
    fn is_in_audience(&mut self, recipient: &str, audience: &str) -> Result<bool>;

    /// Counts an act as one that goes unasked by a template, once however often it is decided; false where there is no room for it today.
    fn take_unasked(&mut self, ask: &PolicyRequest<'_>, authorised: &AuthorisedTemplate) -> Result<bool>;
}
