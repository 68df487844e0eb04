//! What came of it, in the protocol's form: words for a model, and the same for programs.

use munshi_agent::RunOutcome;
use munshi_conversations::RunState;
use munshi_mcp::{CallToolResult, ContentBlock, ErrorData, FAILURE_META, MetaObject};
use munshi_safety::approvals::Approval;
use munshi_safety::pipeline::ProposalMode;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::middleware::log_error;
use munshi_tools::ToolAnswer;
use munshi_types::RunId;
use serde_json::{Value, json};

use super::tool_definitions::GO_ON;

/// What a tool's call came to.
pub(crate) fn render_answer(answer: &ToolAnswer, wanted: ProposalMode) -> CallToolResult {
    let told = answer.render_for_model();
    let about = json!({
        "code": told["code"], "retryable": told["retryable"] == true,
        "maybe": matches!(answer, ToolAnswer::Unknown { .. } | ToolAnswer::Running { .. } | ToolAnswer::Working { .. }),
    });
    let mut result = render_result(answer, wanted, told);
    if result.is_error == Some(true) {
        result.meta = Some(failure(about));
    }
    result
}

fn failure(about: Value) -> MetaObject {
    MetaObject([(FAILURE_META.to_owned(), about)].into_iter().collect())
}

fn render_result(answer: &ToolAnswer, wanted: ProposalMode, mut told: Value) -> CallToolResult {
    match (answer, wanted) {
        (ToolAnswer::Done(_), _) | (ToolAnswer::Rehearsed(_), ProposalMode::Rehearsal) => {
            success_result(told)
        }
        (ToolAnswer::Rehearsed(_), ProposalMode::Act) => {
            told["ok"] = json!(false);
            error_result(format!("It was only tried out; nothing is done. {told}"), told)
        }
        (ToolAnswer::Waiting(approval), _) => {
            told["words"] = json!(approval.words);
            told["expires_at"] = json!(approval.expires_at);
            error_result(render_waiting(approval), told)
        }
        (ToolAnswer::Running { act }, _) => {
            told["act"] = json!(act);
            let text = format!(
                "It is being done at this moment, and goes on by itself. Call {GO_ON} with {{\"act\": \"{act}\"}} to hear \
                 what came of it. Do not call the tool again."
            );
            error_result(text, told)
        }
        _ => error_result(told.to_string(), told),
    }
}

fn render_waiting(approval: &Approval) -> String {
    let id = approval.id;
    format!(
        "Nothing is done yet: a person is asked first.\n{}\nApproval {id}, until {}. Whoever may says yes in the console, \
         with `munshi approvals grant {id}`, or through the API; the key that asked can't. \
         Then call {GO_ON} with {{\"approval\": \"{id}\"}}. Do not call the tool again.",
        approval.words, approval.expires_at
    )
}

/// What an agent said.
pub(crate) fn render_outcome(outcome: &RunOutcome) -> CallToolResult {
    let mut told = json!({ "run": outcome.run, "session": outcome.session, "state": outcome.state,
        "text": outcome.text, "suggestions": outcome.suggestions });
    let mut text = outcome.text.clone();
    if let Some(approval) = outcome.approval {
        told["approval"] = json!(approval);
        text.push_str(&format!(
            "\n\nIt waits for a person's yes to approval {approval}: in the console, with `munshi approvals grant \
             {approval}`, or by POST /v1/approvals/{approval}/grant. Then call {GO_ON} with {{\"run\": \"{}\"}}.",
            outcome.run
        ));
    }
    if let Some(halt) = &outcome.halt {
        told["halt"] = json!(halt.code());
    }
    match outcome.state == RunState::Halted || outcome.degraded {
        true => error_result(text, told),
        false => structured(text, told),
    }
}

/// A turn that takes longer than a request may.
pub(crate) fn render_working(run: RunId) -> CallToolResult {
    let text = format!("It is being worked on. Call {GO_ON} with {{\"run\": \"{run}\"}} to hear the answer.");
    structured(text, json!({ "run": run, "state": "working" }))
}

/// A no of ours, for the client's model; what is our own fault is the protocol's error.
pub(crate) fn render_error(error: &ApiError) -> Result<CallToolResult, ErrorData> {
    log_error(error);
    if matches!(error.code(), ApiErrorCode::Internal | ApiErrorCode::Unavailable) {
        return Err(ErrorData::internal_error(format!("{} {}", error.message, error.hint), None));
    }
    let told =
        json!({ "ok": false, "code": error.code(), "detail": error.message, "suggestion": error.hint });
    // Said before anything was done.
    let about = json!({ "code": error.code(), "retryable": error.code() == ApiErrorCode::TooManyRequests, "maybe": false });
    let mut result = error_result(format!("{} {}", error.message, error.hint), told);
    result.meta = Some(failure(about));
    Ok(result)
}

fn success_result(told: Value) -> CallToolResult {
    structured(told.to_string(), told)
}

pub(super) fn structured(text: String, told: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(told);
    result
}

fn error_result(text: String, told: Value) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(told);
    result
}
