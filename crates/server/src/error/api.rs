//! What a handler returns when it can't do what was asked.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::ApiErrorCode;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// How soon to come back when nothing better is known.
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(5);

/// An answer that says no: a [`ApiErrorCode`], and words for the person behind the client.
///
/// The cause is for the log alone. As a response it has no body yet: the `shape` middleware writes that, because
/// only there is the request id known, and logs the cause, once.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct ApiError {
    pub code: ApiErrorCode,
    pub message: Cow<'static, str>,
    pub hint: Cow<'static, str>,
    pub retry_after: Option<Duration>,
    /// How many there may be, where a limit was reached.
    pub limit: Option<u32>,
    /// The same as `message` among what the account's pages say, where they say it.
    pub phrase: Option<&'static str>,
    /// Of files: each thing that is wrong, with its place. Boxed, since few errors have any.
    pub problems: Option<Box<Value>>,
    #[source]
    pub cause: Option<Cause>,
}

impl ApiError {
    pub fn new(code: ApiErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        let waits =
            matches!(code, ApiErrorCode::TooManyRequests | ApiErrorCode::Unavailable | ApiErrorCode::Timeout);
        Self {
            code,
            message: message.into(),
            hint: code.hint().into(),
            retry_after: waits.then_some(RETRY_AFTER_DEFAULT),
            limit: None,
            phrase: None,
            problems: None,
            cause: None,
        }
    }

    /// The error in the table's own words.
    pub fn from_code(code: ApiErrorCode) -> Self {
        Self::new(code, code.message())
    }

    /// A failure that is ours: the client learns only that it happened.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::from_code(ApiErrorCode::Internal).caused_by(cause)
    }

    /// Something the server needs is away: the database, the disk, a provider.
    pub fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::from_code(ApiErrorCode::Unavailable).caused_by(cause)
    }

    /// What to do next, when more can be said than the table does.
    #[must_use]
    pub fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    #[must_use]
    pub fn retry_after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    #[must_use]
    pub fn limit(self, count: u32) -> Self {
        Self { limit: Some(count), ..self }
    }

    #[must_use]
    pub fn phrase(self, name: &'static str) -> Self {
        Self { phrase: Some(name), ..self }
    }

    #[must_use]
    pub fn caused_by(self, cause: impl Into<Cause>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    pub fn code(&self) -> ApiErrorCode {
        self.code
    }

    pub fn body(&self, request_id: &str) -> ErrorBody {
        ErrorBody {
            error: ErrorDetail {
                code: self.code,
                message: self.message.clone().into_owned(),
                hint: self.hint.clone().into_owned(),
                request_id: request_id.to_owned(),
                problems: self.problems.as_deref().cloned(),
            },
        }
    }

    /// The cause and the causes behind it, in one line for the log.
    pub fn causes(&self) -> Option<String> {
        let mut next: Option<&dyn std::error::Error> = self.cause.as_deref().map(|cause| cause as _);
        let mut words = Vec::new();
        while let Some(error) = next {
            words.push(error.to_string());
            next = error.source();
        }
        (!words.is_empty()).then(|| words.join(": "))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_millis().div_ceil(1000).max(1);
            if let Ok(value) = HeaderValue::try_from(seconds.to_string()) {
                response.headers_mut().insert(RETRY_AFTER, value);
            }
        }
        if self.code == ApiErrorCode::Unauthenticated {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

/// The shape of every error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// Machine-readable error code.
    pub code: ApiErrorCode,
    /// What happened, in plain words.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Also in the logs and in the `x-request-id` header.
    pub request_id: String,
    /// Of files that can't be applied: each thing that is wrong, with its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub problems: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("disk full")]
    struct DiskFull;

    #[derive(Debug, thiserror::Error)]
    #[error("commit failed")]
    struct CommitFailed(#[source] DiskFull);

    #[test]
    fn causes_are_for_the_log_and_not_for_the_client() {
        let error = ApiError::unavailable(CommitFailed(DiskFull));
        assert_eq!(error.causes().as_deref(), Some("commit failed: disk full"));
        let sent = serde_json::to_string(&error.body("r1")).unwrap();
        assert!(!sent.contains("disk full") && !sent.contains("commit"), "{sent}");
    }

    #[test]
    fn waiting_is_in_whole_seconds_rounded_up() {
        let limited =
            ApiError::from_code(ApiErrorCode::TooManyRequests).retry_after(Duration::from_millis(1200));
        assert_eq!(limited.into_response().headers()[RETRY_AFTER], "2");
        let at_once = ApiError::from_code(ApiErrorCode::Unavailable).retry_after(Duration::ZERO);
        assert_eq!(at_once.into_response().headers()[RETRY_AFTER], "1");
        assert!(
            ApiError::from_code(ApiErrorCode::NotFound).into_response().headers().get(RETRY_AFTER).is_none()
        );
    }
}
