//! Google's `{"error":{"code":…,"message":…,"status":…,"details":[…]}}`, as an answer or in a stream.

use serde_json::Value;

use crate::error::ModelError;
use crate::provider_error::ProviderErrorResponse;
use crate::transport::parse_duration;

pub(super) fn classify_response(refusal: &ProviderErrorResponse) -> ModelError {
    // An error that comes before a stream's first part may stand in a list.
    let error =
        refusal.body.get("error").or_else(|| refusal.body.pointer("/0/error")).unwrap_or(&refusal.body);
    let word = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let details = error.get("details").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let detail = |name| details.iter().find_map(|detail| detail.get(name)?.as_str());
    // A wrong key is a 400 here.
    if matches!(detail("reason"), Some("API_KEY_INVALID" | "API_KEY_SERVICE_BLOCKED")) {
        return ModelError::Unauthorised;
    }
    let retry_after = refusal.retry_after.or_else(|| parse_duration(detail("retryDelay")?));
    ProviderErrorResponse { status: refusal.status, body: Value::Null, retry_after }
        .classify(word("status"), word("message"))
}

pub(super) fn classify_stream_error(error: &Value) -> ModelError {
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let status = code.filter(|code| (400..600).contains(code)).unwrap_or(500);
    classify_response(&ProviderErrorResponse {
        status,
        body: serde_json::json!({ "error": error }),
        retry_after: None,
    })
}
