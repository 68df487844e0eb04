//! What followers of a session are told beside its messages.

use munshi_conversations::outbox::{OutboxHold, OutboxState, OutboxView};
use munshi_conversations::session_changes::OpenRun;
use munshi_types::{ApprovalId, MessageId, PersonId, RunId, Timestamp};
use serde::Serialize;

/// As it is at one moment; it is told again when it differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionState {
    /// Turns that have not ended, the oldest first.
    pub runs: Vec<FollowedRun>,
    /// Questions that wait for an answer.
    pub approvals: Vec<ApprovalId>,
    /// Who of the business has it in hand.
    pub held_by: Option<PersonId>,
    /// Behind which message the agent proposes something to them.
    pub draft: Option<i64>,
    /// Who types.
    pub typing: Vec<PersonId>,
    /// How much was whispered to the agent that no turn was told.
    pub whispers: i64,
    /// What colleagues wrote lately that has not left on the channel where the person is met, or was refused.
    pub unsent: Vec<UnsentMessage>,
}

/// How far a colleague's message has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnsentMessage {
    pub message: MessageId,
    pub state: OutboxState,
    /// When it may leave, and why not sooner.
    pub not_before: Option<Timestamp>,
    pub waits_for: Option<OutboxHold>,
    /// Why it has not left, or what is not known.
    pub detail: Option<String>,
}

impl From<OutboxView> for UnsentMessage {
    fn from(row: OutboxView) -> Self {
        let OutboxView { message, state, not_before, waits_for, detail, .. } = row;
        Self { message, state, not_before, waits_for, detail }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FollowedRun {
    pub id: RunId,
    pub state: FollowedRunState,
}

/// How far a turn is, as far as it matters to whoever looks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowedRunState {
    /// Somebody works on it, or it waits for the turn before it.
    Running,
    /// It waits for a person.
    WaitingApproval,
}

impl From<OpenRun> for FollowedRun {
    fn from(run: OpenRun) -> Self {
        let state = match run.is_waiting {
            true => FollowedRunState::WaitingApproval,
            false => FollowedRunState::Running,
        };
        Self { id: run.id, state }
    }
}
