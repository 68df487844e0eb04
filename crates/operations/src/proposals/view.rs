//! What is told of a proposal.

use munshi_safety::proposals::{ProposalState, ProposedOperation};
use munshi_types::{ProposalId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{HouseCall, PackOperations, list_operations};

/// A change that a program asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Proposal)]
pub struct ProposalView {
    #[schema(value_type = uuid::Uuid)]
    pub id: ProposalId,
    /// The operation, by its id in the API document.
    pub operation: String,
    /// What it is to be done with; none for those who could not do it and did not ask for it.
    pub input: Option<Value>,
    /// Of operation and input. Whoever grants it sends it, and so says what they have seen.
    pub digest: String,
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
    /// As a caller may see it: what it is about needs the right to do it.
    pub(super) fn new(call: &HouseCall, packs: &PackOperations, proposal: ProposedOperation) -> Self {
        let caller = &call.caller;
        let is_own = caller.api_caller().is_some_and(|api| api.key == proposal.asked_key);
        let needs = list_operations(packs).find(|entry| entry.spec.id() == proposal.operation);
        let needs = needs.map(|entry| entry.spec.needs);
        let may = |needs| caller.authorize_for(needs, call.tenant.is_installation()).is_ok();
        let is_open = is_own || needs.map_or_else(|| caller.is_keeper(), may);
        let (digest, now) = (proposal.digest(), call.now);
        let has_lapsed = proposal.state == ProposalState::Waiting && proposal.ends_at <= now;
        let state = if has_lapsed { "lapsed" } else { proposal.state.as_str() };
        Self {
            id: proposal.id,
            operation: proposal.operation,
            input: is_open.then_some(proposal.input),
            digest,
            state: state.to_owned(),
            asked_by: proposal.asked_by,
            asked_at: proposal.asked_at,
            ends_at: proposal.ends_at,
            decided_by: proposal.decided_by,
            decided_at: proposal.decided_at,
            outcome: proposal.outcome.filter(|_| is_open),
        }
    }
}
