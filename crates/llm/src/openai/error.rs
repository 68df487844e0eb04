//! `{"error":{"message":…,"type":…,"code":…}}`, as an answer or as a chunk of a stream. Some servers write the
//! error's fields without the object around them, some a plain sentence.

use serde_json::Value;

use crate::error::ModelError;
use crate::provider_error::ProviderErrorResponse;

pub(super) fn classify_response(refusal: &ProviderErrorResponse) -> ModelError {
    let error = refusal.body.get("error").unwrap_or(&refusal.body);
    let word = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = error.as_str().unwrap_or_else(|| word("message"));
    refusal.classify(&[word("type"), word("code")].join(" "), message)
}

/// In a stream the status has long been 200. Compatible servers give the real one as `code`; OpenAI gives a word.
pub(super) fn classify_stream_error(error: &Value) -> ModelError {
    let number = |name| error.get(name).and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let given = number("code").or_else(|| number("status")).filter(|code| (400..600).contains(code));
    let word = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let status = given.unwrap_or_else(|| match (word("type"), word("code")) {
        (_, "rate_limit_exceeded") | ("rate_limit_error" | "tokens" | "requests", _) => 429,
        (_, "invalid_api_key") | ("authentication_error", _) => 401,
        ("invalid_request_error" | "BadRequestError", _) => 400,
        ("overloaded_error" | "service_unavailable_error", _) => 503,
        _ => 500,
    });
    classify_response(&ProviderErrorResponse {
        status,
        body: serde_json::json!({ "error": error }),
        retry_after: None,
    })
}
