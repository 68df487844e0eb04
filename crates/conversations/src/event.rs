//! What those who follow a run see, in order, each under an id by which a broken stream is taken up again.

use std::fmt;
use std::str::FromStr;

use munshi_tools::ToolAnswer;
use munshi_types::{ActId, ApprovalId, MessageId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::{HaltReason, RunState};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// Something is done that takes a moment, in a word: `preparing`, `waiting`.
    Thinking {
        what: String,
    },
    /// More of the reply.
    Token {
        text: String,
    },
    ToolCall {
        call: String,
        tool: String,
        arguments: Value,
    },
    ToolResult {
        call: String,
        tool: String,
        ok: bool,
        result: Value,
        /// How it can be taken back, where it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<UndoOffer>,
    },
    /// A person is asked first.
    Approval {
        approval: ApprovalId,
        words: String,
    },
    Suggestions {
        suggestions: Vec<String>,
    },
    /// All of the reply so far is void; it begins again.
    Reset {
        why: String,
    },
    /// The last one: the reply is whole and stored.
    Done {
        run: RunId,
        /// The reply; none where a person of the business has the conversation in hand, and the agent says nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
        decision_id: RunId,
        usage: TurnUsage,
        state: String,
        degraded: bool,
        /// Whether a question stands in the reply that a bare yes may answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        asks: bool,
        /// What the turn went on without, in a few words each: it took too long, or too many waited.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
    },
    /// The last one: there is no reply.
    Error {
        code: String,
        message: String,
        retryable: bool,
    },
    /// The last one: the message joined the turn of another run, which answers it.
    Joined {
        run: RunId,
    },
    /// Of work that nobody typed.
    Work(WorkEvent),
}

/// What becomes of work that nobody typed, beside its calls of tools and its questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum WorkEvent {
    /// Nobody works on it until something is there.
    Waiting {
        /// `time`, or the code of what is in the way of an act that somebody agreed to: `waiting_limit`.
        reason: String,
        until: Option<Timestamp>,
    },
    /// It has begun other runs, and waits for all of them.
    RunsBegun { runs: Vec<BegunRun> },
    /// One of them has ended.
    ChildEnded { run: RunId, ok: bool },
    /// An optional step was left out, since too many others waited.
    Skipped { step: String },
    /// The last one.
    Ended {
        run: RunId,
        ok: bool,
        state: RunState,
        /// Why it was halted, where it was.
        halt: Option<HaltReason>,
        /// What it ended with.
        result: Value,
    },
}

/// A run that another has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunRun {
    pub run: RunId,
    pub kind: String,
}

impl RunEvent {
    /// The name under which it is streamed.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Thinking { .. } => "thinking",
            Self::Token { .. } => "token",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::Approval { .. } => "approval",
            Self::Suggestions { .. } => "suggestions",
            Self::Reset { .. } => "reset",
            Self::Done { .. } => "done",
            Self::Error { .. } => "error",
            Self::Joined { .. } => "joined",
            Self::Work(WorkEvent::Waiting { .. }) => "waiting",
            Self::Work(WorkEvent::RunsBegun { .. }) => "runs_begun",
            Self::Work(WorkEvent::ChildEnded { .. }) => "child_ended",
            Self::Work(WorkEvent::Skipped { .. }) => "skipped",
            Self::Work(WorkEvent::Ended { .. }) => "ended",
        }
    }

    pub const fn is_last(&self) -> bool {
        matches!(
            self,
            Self::Done { .. }
                | Self::Error { .. }
                | Self::Joined { .. }
                | Self::Work(WorkEvent::Ended { .. })
        )
    }
}

/// That an act can be taken back, with `acts undo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoOffer {
    pub act: ActId,
    /// As long as this.
    pub until: Timestamp,
}

impl UndoOffer {
    /// None where nothing was done, or there is no way back.
    pub fn from_answer(answer: &ToolAnswer, now: Timestamp) -> Option<Self> {
        match answer {
            ToolAnswer::Done(seen) => {
                seen.undo.as_ref().map(|undo| Self { act: seen.act, until: now.plus(undo.holds) })
            }
            _ => None,
        }
    }
}

/// What a turn used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// In millionths of a dollar; none where nobody knows the price.
    pub cost_micros: Option<i64>,
    pub model_calls: u32,
    pub tool_calls: u32,
}

/// Where in a run's stream an event stands: `3.17.204`. Generations begin at 1 and end with a reset, a crash or a new
/// take-up; within one, events are numbered and `offset` says how many bytes of the reply came with and before this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    pub generation: u32,
    pub number: u32,
    pub offset: u32,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.generation, self.number, self.offset)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid event id: expected three numbers separated by dots, as received")]
pub struct EventIdError;

impl FromStr for EventId {
    type Err = EventIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().map_err(|_| EventIdError));
        let mut next = || parts.next().unwrap_or(Err(EventIdError));
        let id = Self { generation: next()?, number: next()?, offset: next()? };
        parts.next().map_or(Ok(id), |_| Err(EventIdError))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_its_text() {
        let id = EventId { generation: 3, number: 17, offset: 204 };
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "1", "1.2", "1.2.3.4", "1.2.x", "-1.2.3"] {
            assert_eq!(bad.parse::<EventId>(), Err(EventIdError), "{bad}");
        }
    }
}
