//! `{"type":"error","error":{"type":…,"message":…}}`, as an answer or as an event of a stream.

use serde_json::Value;

use crate::fault::ModelError;
use crate::refusal::ProviderErrorResponse;

pub(super) fn refused(refusal: &ProviderErrorResponse) -> ModelError {
    let field = |name| refusal.body.pointer(name).and_then(Value::as_str).unwrap_or_default();
    refusal.classed(field("/error/type"), field("/error/message"))
}

/// In a stream the status has long been 200; the error's type says which it would have been.
pub(super) fn in_stream(error: &Value) -> ModelError {
    let status = match error.get("type").and_then(Value::as_str).unwrap_or_default() {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    };
    refused(&ProviderErrorResponse { status, body: serde_json::json!({ "error": error }), retry_after: None })
}
