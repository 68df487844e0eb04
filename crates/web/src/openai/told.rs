//! How a turn ended, in OpenAI's words.

use munshi_agent::{Halt, Outcome};

use super::form::{Refusal, Retry};
use crate::error::{ApiError, Code};

/// Why the text ends where it ends.
pub(crate) fn finish_reason(outcome: &Outcome) -> &'static str {
    match &outcome.halt {
        Some(Halt::RefusedAtDoor(_)) => "content_filter",
        Some(Halt::RunSpent(_)) => "length",
        _ if !outcome.handed.is_empty() => "tool_calls",
        _ if outcome.cut => "length",
        _ => "stop",
    }
}

/// A turn that has no answer of its own is an error to a program. What was said to the person about it is told too.
/// Sent again by the library it would meet the same turn, so the library is told not to.
pub(crate) fn refusal(outcome: &Outcome) -> Option<Refusal> {
    let said = |otherwise: &str| match outcome.text.trim() {
        "" => otherwise.to_owned(),
        text => text.to_owned(),
    };
    let (code, kind, word, message) = match outcome.halt.as_ref()? {
        Halt::OverBudget(_) => (
            Code::TooManyRequests,
            "insufficient_quota",
            "insufficient_quota",
            said("A limit of this workspace is reached."),
        ),
        Halt::NoModel(_) => (Code::Unavailable, "server_error", "no_model", said("No model has answered.")),
        Halt::Broken(_) => {
            (Code::Internal, "server_error", "broken", said("Something went wrong on our side."))
        }
        Halt::Cancelled => {
            (Code::Conflict, "invalid_request_error", "cancelled", said("The turn was stopped."))
        }
        Halt::RunSpent(_) | Halt::Stuck(_) | Halt::ToolCap | Halt::RefusedAtDoor(_) => return None,
    };
    let error = ApiError::new(code, message).hint(format!("GET /v1/runs/{} tells more.", outcome.run));
    Some(Refusal::from(error).code(word).kind(kind).retry(Retry::No))
}
