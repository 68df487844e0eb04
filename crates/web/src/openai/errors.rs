//! Errors as OpenAI's clients read them.

use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::middleware::ErrorBodyWriter;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::turn_errors::convert_turn_error;

/// Below these routes errors have OpenAI's form.
const PATHS: [&str; 4] = ["/v1/models", "/v1/models/{model}", "/v1/chat/completions", "/v1/embeddings"];

pub(crate) fn is_openai_route(path: &str) -> bool {
    PATHS.contains(&path)
}

/// For the middleware that gives errors their shape.
pub(crate) fn select_error_writer(path: &str) -> Option<ErrorBodyWriter> {
    is_openai_route(path).then_some(write_error_body as ErrorBodyWriter)
}

/// Read by OpenAI's own libraries: whether asking again may help.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit-requests");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining-requests");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset-requests");

/// An error in OpenAI's format.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionError {
    pub(crate) error: CompletionErrorDetail,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionErrorDetail {
    /// What happened and what to do, in plain words.
    pub(crate) message: String,
    /// `invalid_request_error`, `requests`, `insufficient_quota`, `permission_error` or `server_error`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// The request parameter at fault, if any.
    pub(crate) param: Option<String>,
    /// Machine-readable error code.
    pub(crate) code: &'static str,
}

/// An [`ApiError`] with what OpenAI's form says beside it. The `shape` middleware writes the body.
#[derive(Debug)]
pub(crate) struct CompletionRefusal {
    error: Box<ApiError>,
    extra: Box<CompletionRefusalDetail>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CompletionRefusalDetail {
    param: Option<String>,
    code: Option<&'static str>,
    kind: Option<&'static str>,
    should_retry: Option<bool>,
}

impl CompletionRefusal {
    /// Something in the request is not as it should be.
    pub(crate) fn invalid_param(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::for_param(param, ApiError::new(ApiErrorCode::BadRequest, message.into()).hint(""))
    }

    /// An error of ours that is about one part of the request.
    pub(crate) fn for_param(param: impl Into<String>, error: ApiError) -> Self {
        let extra =
            CompletionRefusalDetail { param: Some(param.into()), ..CompletionRefusalDetail::default() };
        Self { error: Box::new(error), extra: Box::new(extra) }
    }

    /// Something that OpenAI has and this has not.
    pub(crate) fn unsupported(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid_param(param, message).code("unsupported_parameter")
    }

    pub(crate) fn no_model(name: &str) -> Self {
        let name = munshi_server::json::shorten(name);
        let message = format!("The model `{name}` does not exist, or this key has no access to it.");
        let error = ApiError::new(ApiErrorCode::NotFound, message)
            .hint("List the accessible ones with GET /v1/models.");
        Self::for_param("model", error).code("model_not_found")
    }

    pub(crate) fn code(mut self, code: &'static str) -> Self {
        self.extra.code = Some(code);
        self
    }

    pub(crate) fn kind(mut self, kind: &'static str) -> Self {
        self.extra.kind = Some(kind);
        self
    }

    /// Tells the client's library whether to send it again by itself.
    pub(crate) fn retry(mut self, should: ClientRetryAdvice) -> Self {
        self.extra.should_retry = Some(should == ClientRetryAdvice::Yes);
        self
    }

    /// As it stands in a stream that has begun.
    pub(crate) fn body(&self) -> CompletionError {
        build_error(&self.error, Some(&self.extra))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientRetryAdvice {
    Yes,
    No,
}

impl From<ApiError> for CompletionRefusal {
    fn from(error: ApiError) -> Self {
        Self { error: Box::new(error), extra: Box::default() }
    }
}

impl From<munshi_conversations::Error> for CompletionRefusal {
    fn from(error: munshi_conversations::Error) -> Self {
        convert_turn_error(error).into()
    }
}

impl IntoResponse for CompletionRefusal {
    fn into_response(self) -> Response {
        let mut response = self.error.into_response();
        response.extensions_mut().insert(*self.extra);
        response
    }
}

/// Writes the body of an error, and the headers that OpenAI's libraries read.
pub(crate) fn write_error_body(mut response: Response, error: &ApiError) -> Response {
    let extra = response.extensions().get::<CompletionRefusalDetail>().cloned();
    let should_retry = extra.as_ref().and_then(|extra| extra.should_retry);
    let body = Json(build_error(error, extra.as_ref())).into_response();
    if error.code() == ApiErrorCode::Invalid {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    let waits =
        response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(|s| format!("{s}s"));
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(should) = should_retry {
        headers.insert(SHOULD_RETRY, HeaderValue::from_static(if should { "true" } else { "false" }));
    }
    if error.code() == ApiErrorCode::TooManyRequests {
        let (limit, reset) = (error.limit.map(|limit| limit.to_string()), waits);
        let lines = [(LIMIT, limit), (REMAINING, Some("0".to_owned())), (RESET, reset)];
        for (name, value) in lines {
            insert_header(headers, name, value);
        }
    }
    *response.body_mut() = body.into_body();
    response
}

/// What is left of the key's requests, on an answer that went well.
pub(crate) fn set_rate_limit_headers(
    response: &mut Response,
    left: munshi_server::limits::RequestRateStatus,
) {
    let headers = response.headers_mut();
    insert_header(headers, LIMIT, Some(left.limit.to_string()));
    insert_header(headers, REMAINING, Some(left.remaining.to_string()));
    insert_header(headers, RESET, Some(format!("{}ms", left.reset.as_millis())));
}

fn insert_header(headers: &mut axum::http::HeaderMap, name: HeaderName, value: Option<String>) {
    if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
        headers.insert(name, value);
    }
}

fn build_error(error: &ApiError, extra: Option<&CompletionRefusalDetail>) -> CompletionError {
    let (kind, code) = error_labels(error.code());
    let message = match (error.message.as_ref(), error.hint.as_ref()) {
        (message, "") => message.to_owned(),
        (message, hint) => format!("{message} {hint}"),
    };
    CompletionError {
        error: CompletionErrorDetail {
            message,
            kind: extra.and_then(|extra| extra.kind).unwrap_or(kind),
            param: extra.and_then(|extra| extra.param.clone()),
            code: extra.and_then(|extra| extra.code).unwrap_or(code),
        },
    }
}

/// OpenAI's own words for our codes; ours where it has none.
const fn error_labels(code: ApiErrorCode) -> (&'static str, &'static str) {
    const INVALID: &str = "invalid_request_error";
    match code {
        ApiErrorCode::BadRequest | ApiErrorCode::Invalid => (INVALID, "invalid_value"),
        ApiErrorCode::Unauthenticated => (INVALID, "invalid_api_key"),
        ApiErrorCode::Forbidden => ("permission_error", "insufficient_permissions"),
        ApiErrorCode::TooManyRequests => ("requests", "rate_limit_exceeded"),
        ApiErrorCode::NotFound
        | ApiErrorCode::MethodNotAllowed
        | ApiErrorCode::SlowRequest
        | ApiErrorCode::Conflict
        | ApiErrorCode::TooLarge
        | ApiErrorCode::ProofNeeded
        | ApiErrorCode::UnsupportedMediaType => (INVALID, code.as_str()),
        ApiErrorCode::Internal | ApiErrorCode::Unavailable | ApiErrorCode::Timeout => {
            ("server_error", code.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_openai_s_form() {
        let sent = serde_json::to_value(CompletionRefusal::invalid_param("n", "Only 1.").body()).unwrap();
        let told = serde_json::json!({ "error": {
            "message": "Only 1.", "type": "invalid_request_error", "param": "n", "code": "invalid_value" } });
        assert_eq!(sent, told);
        let lost = serde_json::to_value(CompletionRefusal::no_model("gpt-9").body()).unwrap();
        assert_eq!(
            (&lost["error"]["code"], &lost["error"]["param"]),
            (&"model_not_found".into(), &"model".into())
        );
        for code in ApiErrorCode::ALL {
            assert!(!error_labels(code).1.is_empty());
        }
    }

    #[test]
    fn a_limit_says_when_it_is_free_again() {
        let error = ApiError::from_code(ApiErrorCode::TooManyRequests)
            .retry_after(std::time::Duration::from_secs(7))
            .limit(600);
        let response = error.into_response();
        let shared = response.extensions().get::<std::sync::Arc<ApiError>>().unwrap().clone();
        let headers = write_error_body(response, &shared).headers().clone();
        assert_eq!((&headers[RETRY_AFTER], &headers[RESET]), (&"7".parse().unwrap(), &"7s".parse().unwrap()));
        assert_eq!((&headers[LIMIT], &headers[REMAINING]), (&"600".parse().unwrap(), &"0".parse().unwrap()));
    }
}
