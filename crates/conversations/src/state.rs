//! Where a run can be, and why one ends without an answer of its own.

use munshi_types::RunId;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Stored; it begins, or waits for the turn before it.
    Created,
    Preparing,
    Thinking,
    CheckingSafety,
    /// A person is asked; nobody works on it.
    WaitingApproval,
    /// Other runs that it began are waited for; nobody works on it.
    WaitingChild,
    /// A time is waited for; nobody works on it.
    WaitingTimer,
    Acting,
    Observing,
    Responding,
    Done,
    /// Ended otherwise; the reason says how, and the person was told.
    Halted,
}

impl RunState {
    pub const ALL: [Self; 12] = [
        Self::Created,
        Self::Preparing,
        Self::Thinking,
        Self::CheckingSafety,
        Self::WaitingApproval,
        Self::WaitingChild,
        Self::WaitingTimer,
        Self::Acting,
        Self::Observing,
        Self::Responding,
        Self::Done,
        Self::Halted,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Preparing => "preparing",
            Self::Thinking => "thinking",
            Self::CheckingSafety => "checking_safety",
            Self::WaitingApproval => "waiting_approval",
            Self::WaitingChild => "waiting_child",
            Self::WaitingTimer => "waiting_timer",
            Self::Acting => "acting",
            Self::Observing => "observing",
            Self::Responding => "responding",
            Self::Done => "done",
            Self::Halted => "halted",
        }
    }

    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Done | Self::Halted)
    }

    /// Nobody works on it until something is there.
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::WaitingApproval | Self::WaitingChild | Self::WaitingTimer)
    }
}

/// Why a run was halted. The person gets a sentence for each, in their language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why", content = "detail")]
pub enum HaltReason {
    /// A limit of the tenant, binding or person.
    OverBudget(String),
    /// The run's own limit of tokens, money, steps or time.
    RunSpent(String),
    /// The same call failed twice, or a tool failed too often.
    Stuck(String),
    /// So many calls of tools as the agent may make.
    ToolCap,
    /// No model answered.
    NoModel(String),
    /// What came in may not be taken, such as an Aadhaar number.
    RefusedAtDoor(String),
    /// They wrote STOP, or a word like it: it was stored and confirmed, and no model was asked.
    OptedOut,
    /// They wrote START after that.
    OptedIn,
    Cancelled,
    /// Somebody of the business has the conversation in hand: the agent says nothing.
    Held,
    /// The person on whose behalf it acted is no longer known.
    PersonGone,
    /// Its message joined the turn of this run, whose reply answers both.
    Joined(RunId),
    /// Something of ours broke; the log has the cause.
    Broken(String),
}

impl HaltReason {
    /// One word for it, as it is stored and told.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OverBudget(_) => "over_budget",
            Self::RunSpent(_) => "run_spent",
            Self::Stuck(_) => "stuck",
            Self::ToolCap => "tool_cap",
            Self::NoModel(_) => "no_model",
            Self::RefusedAtDoor(_) => "refused_at_door",
            Self::OptedOut => "opted_out",
            Self::OptedIn => "opted_in",
            Self::Cancelled => "cancelled",
            Self::Held => "held",
            Self::PersonGone => "person_gone",
            Self::Joined(_) => "joined",
            Self::Broken(_) => "broken",
        }
    }

    /// Whether nothing was answered: then nobody is billed.
    pub const fn is_excuse(&self) -> bool {
        !matches!(self, Self::Stuck(_) | Self::ToolCap | Self::Cancelled)
    }
}
