//! What goes wrong with a call, by what is done about it.

use std::time::Duration;

/// Where a call was when its time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutStage {
    Connect,
    FirstByte,
    BetweenBytes,
    Whole,
}

impl TimeoutStage {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connecting",
            Self::FirstByte => "waiting for the first token",
            Self::BetweenBytes => "waiting for the next token",
            Self::Whole => "answering",
        }
    }
}

/// Never holds a key, a header or a prompt: it is logged and stored as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("the model call timed out while {}", .0.as_str())]
    Timeout(TimeoutStage),
    #[error("can't reach the provider: {0}")]
    Unreachable(String),
    #[error("the provider's rate limit is reached")]
    RateLimited { retry_after: Option<Duration> },
    /// 5xx, or an overload said in the stream.
    #[error("provider error ({status}): {message}")]
    Failed { status: u16, message: String, retry_after: Option<Duration> },
    #[error("the provider rejected the API key")]
    Unauthorised,
    /// The request itself is wrong for this model; another try gives the same answer.
    #[error("the provider rejected the request ({status}): {message}")]
    Rejected { status: u16, message: String },
    #[error("the conversation exceeds the model's context window")]
    TooLong,
    /// The stream stopped without its proper end.
    #[error("the response stream ended early")]
    Interrupted,
    /// Not what the wire's rules allow.
    #[error("invalid provider response: {0}")]
    Garbled(String),
    #[error("the model's arguments for {tool} are not a JSON object")]
    MalformedArguments { tool: String, text: String },
    /// A veiled model made codes up; they stand for nobody.
    #[error("the model called {tool} with unknown codes: {codes}")]
    UnknownCodes { tool: String, codes: String },
    /// The answer is not of the schema that was asked for.
    #[error("the answer does not have the form that was asked for: {0}")]
    WrongForm(String),
    #[error("the call was cancelled")]
    Cancelled,
    #[error("over budget: {0}")]
    OverBudget(String),
    #[error("no model is available: {0}")]
    NoTarget(String),
}

impl ModelError {
    /// Whether the same call to the same target may pass when tried again.
    pub const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Timeout(_)
                | Self::Unreachable(_)
                | Self::RateLimited { .. }
                | Self::Failed { .. }
                | Self::Interrupted
                | Self::Garbled(_)
        )
    }

    /// Whether it says something about the target's health, and so counts for its breaker.
    pub const fn blames_target(&self) -> bool {
        self.is_transient() || matches!(self, Self::Unauthorised)
    }

    /// When the provider said to come back.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after } | Self::Failed { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The word stored with the call.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Timeout(_) => "timeout",
            Self::Unreachable(_) => "unreachable",
            Self::RateLimited { .. } => "rate_limited",
            Self::Failed { .. } => "provider_failed",
            Self::Unauthorised => "unauthorised",
            Self::Rejected { .. } => "rejected",
            Self::TooLong => "too_long",
            Self::Interrupted => "interrupted",
            Self::Garbled(_) => "garbled",
            Self::MalformedArguments { .. } => "malformed_arguments",
            Self::UnknownCodes { .. } => "unknown_codes",
            Self::WrongForm(_) => "wrong_form",
            Self::Cancelled => "cancelled",
            Self::OverBudget(_) => "over_budget",
            Self::NoTarget(_) => "no_target",
        }
    }
}

/// The same as [`ModelError::blames_target`], for what was stored; whether a provider said when to come back was not.
pub fn code_blames_target(code: &str) -> bool {
    let all = ["timeout", "unreachable", "provider_failed", "interrupted", "garbled", "unauthorised"];
    all.contains(&code)
}
