//! What is told of a proposal.

use munshi_safety::proposals::{ProposalState, ProposedOperation};
use munshi_types::{ProposalId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A change that a program asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Proposal)]
pub struct ProposalView {
    #[schema(value_type = uuid::Uuid)]
    pub id: ProposalId,
    /// The operation, by its id in the API document.
    pub operation: String,
    pub input: Value,
    /// `waiting`, `granted` (being done), `done`, `failed`, `interrupted` (begun and cut short), `refused`, or `lapsed` where
    /// nobody decided in time.
    pub state: String,
    pub asked_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
    /// Until when somebody may decide.
    #[schema(value_type = String, format = DateTime)]
    pub ends_at: Timestamp,
    pub decided_by: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub decided_at: Option<Timestamp>,
    /// What came of it: the operation's view, or why it failed.
    pub outcome: Option<Value>,
}

impl ProposalView {
    pub(super) fn new(proposal: ProposedOperation, now: Timestamp) -> Self {
        let has_lapsed = proposal.state == ProposalState::Waiting && proposal.ends_at <= now;
        let state = if has_lapsed { "lapsed" } else { proposal.state.as_str() };
        Self {
            id: proposal.id,
            operation: proposal.operation,
            input: proposal.input,
            state: state.to_owned(),
            asked_by: proposal.asked_by,
            asked_at: proposal.asked_at,
            ends_at: proposal.ends_at,
            decided_by: proposal.decided_by,
            decided_at: proposal.decided_at,
            outcome: proposal.outcome,
        }
    }
}
