//! The edge: every error leaves in the one shape, and its cause is logged here and nowhere else.

use std::any::Any;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use http_body_util::BodyExt;

use super::RequestId;
use crate::account::fault::PendingErrorPage;
use crate::account::words::PagePhrases;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::{Json, shorten};
use crate::openai;

/// A refusal's text longer than this is not looked at.
const LONGEST_REFUSAL: u64 = 4096;

pub(crate) async fn shape(
    id: RequestId,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let is_openai = matched.is_some_and(|path| openai::speaks(path.as_str()));
    let words = PagePhrases::of(request.headers());
    let response = next.run(request).await;
    if let Some(shown) = response.extensions().get::<PendingErrorPage>().cloned() {
        log(&shown.0);
        return shown.page(words, response);
    }
    let error = match response.extensions().get::<Arc<ApiError>>() {
        Some(error) => error.clone(),
        None if is_bare(&response) => {
            let (parts, body) = response.into_parts();
            let error = adopt(parts.status, read(body).await);
            return finish(Response::from_parts(parts, Body::empty()), &error, &id, is_openai);
        }
        None => return response,
    };
    finish(response, &error, &id, is_openai)
}

/// Writes the body, keeping the status and headers such as `retry-after`.
fn finish(mut response: Response, error: &ApiError, id: &RequestId, is_openai: bool) -> Response {
    log(error);
    if is_openai {
        return openai::form::finish(response, error);
    }
    let body = Json(error.body(id.as_str())).into_response();
    response.headers_mut().remove(CONTENT_LENGTH);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *response.body_mut() = body.into_body();
    response
}

pub(crate) fn log(error: &ApiError) {
    let status = error.code.status();
    match error.causes() {
        Some(cause) if status == StatusCode::INTERNAL_SERVER_ERROR => {
            tracing::error!(code = error.code.as_str(), cause, "request failed");
        }
        Some(cause) if status.is_server_error() => {
            tracing::warn!(code = error.code.as_str(), cause, "request failed");
        }
        Some(cause) => tracing::debug!(code = error.code.as_str(), cause, "request refused"),
        None => {}
    }
}

/// Whether this is an error without a shape of its own: empty or plain text, as axum's own refusals are. Pages and
/// JSON are left alone, so other protocols (OpenAI's, MCP's) can speak their own errors.
fn is_bare(response: &Response) -> bool {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return false;
    }
    match response.headers().get(CONTENT_TYPE).map(HeaderValue::to_str) {
        None => response.body().is_end_stream(),
        Some(kind) => kind.is_ok_and(|kind| kind.starts_with("text/plain")),
    }
}

async fn read(body: Body) -> String {
    if body.size_hint().exact().is_none_or(|length| length > LONGEST_REFUSAL) {
        return String::new();
    }
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Our error for a refusal made elsewhere. Its text reaches the client only if the fault is the client's.
fn adopt(status: StatusCode, text: String) -> ApiError {
    let code = ApiErrorCode::for_status(status);
    if text.is_empty() {
        ApiError::plain(code)
    } else if status.is_client_error() {
        ApiError::new(code, shorten(&text))
    } else {
        ApiError::plain(code).caused_by(text)
    }
}

/// Answers for a handler that panicked. The panic hook has logged it already, with its place in the code.
pub(crate) fn after_panic(_: Box<dyn Any + Send>) -> Response {
    ApiError::plain(ApiErrorCode::Internal).into_response()
}
