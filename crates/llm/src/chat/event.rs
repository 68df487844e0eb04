//! A reply as it comes.

use serde::{Deserialize, Serialize};

use super::limits::RateLimits;
use super::usage::TokenUsage;

/// The order is: `Started`, then deltas, then `Finished` once. A stream that ends without `Finished` ends in a fault.
/// `Limits` and `Usage` may stand anywhere before it.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// The provider has taken the call.
    Started {
        request_id: Option<String>,
        model: Option<String>,
    },
    /// What the provider's headers say about how much more it will take.
    Limits(RateLimits),
    Text(String),
    Thinking(String),
    /// Belongs to the thinking before it.
    ThinkingSignature(String),
    SealedThinking(String),
    /// A tool call begins; its arguments come in fragments under the same index.
    ToolCallStarted {
        index: usize,
        id: String,
        name: String,
    },
    ToolCallArguments {
        index: usize,
        fragment: String,
    },
    /// A provider's own state to send back with this message.
    State(String),
    /// Used so far, as the provider counts; each replaces the one before. What a stream that breaks off is billed by.
    Usage(TokenUsage),
    Finished {
        stop: StopReason,
        usage: TokenUsage,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It said what it had to say.
    EndTurn,
    ToolUse,
    /// It was cut off at the output limit.
    MaxTokens,
    StopSequence,
    /// The provider would not answer.
    Refused,
    /// Something this program does not know, as the provider wrote it.
    Other(String),
}

/// As much of a provider's own word as is kept.
const LONGEST_WORD: usize = 60;

impl StopReason {
    /// A provider's own word: short, and with nothing in it that could drive a terminal.
    pub fn from_provider(word: &str) -> Self {
        let plain = word.chars().filter(|letter| !letter.is_control()).take(LONGEST_WORD);
        Self::Other(plain.collect())
    }

    /// One word for it, as it is stored.
    pub fn code(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::Refused => "refused",
            Self::Other(word) => word,
        }
    }
}

impl ChatEvent {
    /// Whether the model itself has begun to speak.
    pub const fn is_delta(&self) -> bool {
        !matches!(self, Self::Started { .. } | Self::Limits(_) | Self::Usage(_))
    }
}
