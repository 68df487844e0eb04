//! `{"type":"error","error":{"type":…,"message":…}}`, as an answer or as an event of a stream.

use serde_json::Value;

use crate::error::ModelError;
use crate::provider_error::ProviderErrorResponse;

pub(super) fn classify_response(refusal: &ProviderErrorResponse) -> ModelError {
    let field = |name| refusal.body.pointer(name).and_then(Value::as_str).unwrap_or_default();
    refusal.classify(field("/error/type"), field("/error/message"))
}

/// In a stream the status has long been 200; the error's type says which it would have been.
pub(super) fn classify_stream_error(error: &Value) -> ModelError {
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
    classify_response(&ProviderErrorResponse {
        status,
        body: serde_json::json!({ "error": error }),
        retry_after: None,
    })
}
