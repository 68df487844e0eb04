//! What came back, as data; and where nothing did, whether it may have happened.

use http::Method;
use munshi_http::header::CONTENT_TYPE;
use munshi_http::{ReadBodyError, RequestError, Response, StatusCode};
use munshi_mcp::{CallToolResult, ContentBlock, FAILURE_META, MetaObject};
use serde_json::{Map, Value, json};

use super::operation::ServiceOperation;
use super::{LARGEST_ANSWER, paging};

/// Of what a service says about an error, in letters.
const LONGEST_COMPLAINT: usize = 1_500;

/// What a call says of the service's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceHealth {
    Well,
    Ill,
}

/// Why a call came to nothing.
pub(super) struct ServiceCallError {
    pub(super) code: &'static str,
    pub(super) words: String,
    pub(super) retryable: bool,
    /// Whether it may have happened all the same.
    pub(super) maybe: bool,
}

impl ServiceCallError {
    pub(super) fn permanent(code: &'static str, words: impl Into<String>) -> Self {
        Self { code, words: words.into(), retryable: false, maybe: false }
    }

    pub(super) fn into_tool_result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.words)]);
        let about = json!({ "code": self.code, "retryable": self.retryable, "maybe": self.maybe });
        result.meta = Some(MetaObject([(FAILURE_META.to_owned(), about)].into_iter().collect()));
        result
    }
}

/// A request that got no answer.
pub(super) fn classify_request_error(error: &RequestError, operation: &ServiceOperation) -> ServiceCallError {
    let writes = operation.method != Method::GET;
    let host = operation.base.host_str().unwrap_or_default();
    let words = munshi_http::list_causes(error).pop().unwrap_or_default();
    match () {
        // Nothing left this machine.
        () if error.is_connect() || error.is_builder() => ServiceCallError {
            code: "unreachable",
            words: format!("{host} can't be reached: {words}"),
            retryable: error.is_connect() && !words.contains("private network"),
            maybe: false,
        },
        () if error.is_timeout() => ServiceCallError {
            code: "too_slow",
            words: format!("{host} has not answered in time. Say so; it can be tried again later."),
            retryable: false,
            maybe: writes,
        },
        () => ServiceCallError {
            code: "connector_lost",
            words: format!("the connection to {host} broke: {words}"),
            retryable: true,
            maybe: writes,
        },
    }
}

/// Reads an answer, as much as may be read of it.
pub(super) async fn read(
    operation: &ServiceOperation,
    arguments: &Map<String, Value>,
    mut response: Response,
) -> (CallToolResult, ServiceHealth) {
    let (status, headers) = (response.status(), response.headers().clone());
    let health = if status.is_server_error() { ServiceHealth::Ill } else { ServiceHealth::Well };
    let mut body = Vec::new();
    match munshi_http::read_body(&mut response, LARGEST_ANSWER, &mut body).await {
        Ok(()) => {}
        Err(ReadBodyError::TooLarge(_)) => {
            return (too_long(operation).into_tool_result(), ServiceHealth::Well);
        }
        Err(ReadBodyError::Lost(error)) => {
            return (classify_request_error(&error, operation).into_tool_result(), ServiceHealth::Ill);
        }
    }
    if !status.is_success() {
        return (classify_status(&operation.method, status, &body).into_tool_result(), health);
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let value = parse_body(kind, &body);
    let mut told = json!({ "status": status.as_u16(), "body": value });
    if let Some(next) = paging::find_next_page(operation, arguments, &headers, &value) {
        told["next"] = next;
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(told.to_string())]);
    result.structured_content = Some(told);
    (result, health)
}

fn too_long(operation: &ServiceOperation) -> ServiceCallError {
    let words = format!(
        "it answered with more than {LARGEST_ANSWER} bytes. Ask for less at once: a part, a page, fewer rows."
    );
    ServiceCallError {
        maybe: operation.method != Method::GET,
        ..ServiceCallError::permanent("too_long", words)
    }
}

/// JSON and texts as they are; a picture is named and not passed on.
fn parse_body(kind: &str, body: &[u8]) -> Value {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if body.is_empty() {
        return Value::Null;
    }
    match serde_json::from_slice(body) {
        Ok(value) if kind.is_empty() || kind.ends_with("json") => value,
        _ if kind.is_empty()
            || kind.starts_with("text/")
            || kind.contains("xml")
            || kind.ends_with("json") =>
        {
            json!(String::from_utf8_lossy(body))
        }
        _ => json!({ "kind": kind, "bytes": body.len() }),
    }
}

fn classify_status(method: &Method, status: StatusCode, body: &[u8]) -> ServiceCallError {
    let writes = *method != Method::GET;
    let said: String = String::from_utf8_lossy(body).chars().take(LONGEST_COMPLAINT).collect();
    let words = |about: &str| format!("HTTP {}{about}: {said}", status.as_u16());
    match status {
        // Only these two ask for the same call elsewhere; by the others a write is often answered that was done.
        _ if status.is_redirection() => ServiceCallError {
            maybe: writes && !matches!(status.as_u16(), 307 | 308),
            ..ServiceCallError::permanent(
                "moved",
                format!("HTTP {}: it leads elsewhere, and nobody is followed", status.as_u16()),
            )
        },
        // It, or somebody before it, gave up waiting.
        StatusCode::REQUEST_TIMEOUT => {
            ServiceCallError { maybe: writes, ..ServiceCallError::permanent("too_slow", words("")) }
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ServiceCallError::permanent(
            "not_let_in",
            words(", it does not let us in; whoever runs this can give it a login"),
        ),
        StatusCode::NOT_FOUND | StatusCode::GONE => ServiceCallError::permanent("not_found", words("")),
        StatusCode::TOO_MANY_REQUESTS => {
            ServiceCallError { retryable: true, ..ServiceCallError::permanent("too_often", words("")) }
        }
        _ if status.is_server_error() => ServiceCallError {
            code: "service_failed",
            words: words(", it failed"),
            retryable: matches!(status.as_u16(), 502..=504),
            maybe: writes,
        },
        _ => ServiceCallError::permanent("tool_failed", words("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_whether_a_write_may_have_happened() {
        let maybe = |method: &Method, status: u16| {
            classify_status(method, StatusCode::from_u16(status).unwrap(), b"").maybe
        };
        for status in [301, 302, 303, 408, 500, 502, 504] {
            assert!(maybe(&Method::POST, status) && !maybe(&Method::GET, status), "{status}");
        }
        for status in [307, 308, 400, 401, 403, 404, 409, 410, 422, 429] {
            assert!(!maybe(&Method::POST, status), "{status}");
        }
    }
}
