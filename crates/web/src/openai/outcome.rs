//! How a turn ended, in OpenAI's words.

use munshi_agent::RunOutcome;
use munshi_conversations::HaltReason;
use munshi_server::error::{ApiError, ApiErrorCode};

use super::errors::{ClientRetryAdvice, CompletionRefusal};

/// Why the text ends where it ends.
pub(crate) fn finish_reason(outcome: &RunOutcome) -> &'static str {
    match &outcome.halt {
        Some(HaltReason::RefusedAtDoor(_)) => "content_filter",
        Some(HaltReason::RunSpent(_)) => "length",
        _ if !outcome.handed.is_empty() => "tool_calls",
        _ if outcome.cut => "length",
        _ => "stop",
    }
}

/// A turn that has no answer of its own is an error to a program. What was said to the person about it is told too.
/// Sent again by the library it would meet the same turn, so the library is told not to.
pub(crate) fn find_refusal(outcome: &RunOutcome) -> Option<CompletionRefusal> {
    let said = |otherwise: &str| match outcome.text.trim() {
        "" => otherwise.to_owned(),
        text => text.to_owned(),
    };
    let (code, kind, word, message) = match outcome.halt.as_ref()? {
        HaltReason::OverBudget(_) => (
            ApiErrorCode::TooManyRequests,
            "insufficient_quota",
            "insufficient_quota",
            said("The workspace has reached a usage limit."),
        ),
        HaltReason::NoModel(_) => {
            (ApiErrorCode::Unavailable, "server_error", "no_model", said("No model answered."))
        }
        HaltReason::PersonGone | HaltReason::Broken(_) => {
            (ApiErrorCode::Internal, "server_error", "broken", said("Internal server error."))
        }
        HaltReason::Cancelled => {
            (ApiErrorCode::Conflict, "invalid_request_error", "cancelled", said("The turn was cancelled."))
        }
        HaltReason::RunSpent(_)
        | HaltReason::Stuck(_)
        | HaltReason::ToolCap
        | HaltReason::RefusedAtDoor(_)
        | HaltReason::Held
        | HaltReason::OptedOut
        | HaltReason::OptedIn
        | HaltReason::Joined(_) => return None,
    };
    let error = ApiError::new(code, message).hint(format!("See GET /v1/runs/{} for details.", outcome.run));
    Some(CompletionRefusal::from(error).code(word).kind(kind).retry(ClientRetryAdvice::No))
}
