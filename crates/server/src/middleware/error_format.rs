//! The edge: every error leaves in the one shape, and its cause is logged here and nowhere else.

use std::any::Any;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use http_body_util::BodyExt;

use super::request_id::RequestId;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::{Json, shorten};
use crate::page_error::PendingErrorPage;
use crate::page_phrases::PagePhrases;

/// A refusal's text longer than this is not looked at.
const LONGEST_REFUSAL: u64 = 4096;

/// What an error looks like where it is not JSON in our own shape. The router's owner says so.
#[derive(Clone, Copy)]
pub struct ErrorRenderers {
    /// What writes the body below a route that speaks another protocol; none for our own shape.
    pub select_body_writer: fn(route: &str) -> Option<ErrorBodyWriter>,
    /// Puts a page for people into the answer, keeping its status and headers such as `retry-after`.
    pub render_page: fn(&ApiError, PagePhrases, Response) -> Response,
}

/// Writes an error as the body of an answer, keeping the status and headers such as `retry-after`.
pub type ErrorBodyWriter = fn(Response, &ApiError) -> Response;

pub(super) async fn format_errors(
    State(renderers): State<ErrorRenderers>,
    id: RequestId,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let writer = matched.and_then(|path| (renderers.select_body_writer)(path.as_str()));
    let words = PagePhrases::from_headers(request.headers());
    let response = next.run(request).await;
    if let Some(shown) = response.extensions().get::<PendingErrorPage>().cloned() {
        log_error(&shown.0);
        return (renderers.render_page)(&shown.0, words, response);
    }
    let error = match response.extensions().get::<Arc<ApiError>>() {
        Some(error) => error.clone(),
        None if is_unformatted_error(&response) => {
            let (parts, body) = response.into_parts();
            let error = convert_rejection(parts.status, read_text(body).await);
            return write_error_body(Response::from_parts(parts, Body::empty()), &error, &id, writer);
        }
        None => return response,
    };
    write_error_body(response, &error, &id, writer)
}

/// Writes the body, keeping the status and headers such as `retry-after`.
fn write_error_body(
    mut response: Response,
    error: &ApiError,
    id: &RequestId,
    writer: Option<ErrorBodyWriter>,
) -> Response {
    log_error(error);
    if let Some(write) = writer {
        return write(response, error);
    }
    let body = Json(error.body(id.as_str())).into_response();
    response.headers_mut().remove(CONTENT_LENGTH);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *response.body_mut() = body.into_body();
    response
}

pub fn log_error(error: &ApiError) {
    let status = error.code.status();
    match error.causes() {
        Some(cause) if status == StatusCode::INTERNAL_SERVER_ERROR => {
            tracing::error!(code = error.code.as_str(), cause, "request failed");
        }
        Some(cause) if status.is_server_error() => {
            tracing::warn!(code = error.code.as_str(), cause, "request failed");
        }
        Some(cause) => tracing::debug!(code = error.code.as_str(), cause, "request rejected"),
        None => {}
    }
}

/// Whether this is an error without a shape of its own: empty or plain text, as axum's own refusals are. Pages and
/// JSON are left alone, so other protocols (OpenAI's, MCP's) can speak their own errors.
fn is_unformatted_error(response: &Response) -> bool {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return false;
    }
    match response.headers().get(CONTENT_TYPE).map(HeaderValue::to_str) {
        None => response.body().is_end_stream(),
        Some(kind) => kind.is_ok_and(|kind| kind.starts_with("text/plain")),
    }
}

async fn read_text(body: Body) -> String {
    if body.size_hint().exact().is_none_or(|length| length > LONGEST_REFUSAL) {
        return String::new();
    }
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Our error for a refusal made elsewhere. Its text reaches the client only if the fault is the client's.
fn convert_rejection(status: StatusCode, text: String) -> ApiError {
    let code = ApiErrorCode::for_status(status);
    if text.is_empty() {
        ApiError::from_code(code)
    } else if status.is_client_error() {
        ApiError::new(code, shorten(&text))
    } else {
        ApiError::from_code(code).caused_by(text)
    }
}

/// Answers for a handler that panicked. The panic hook has logged it already, with its place in the code.
pub(super) fn handle_panic(_: Box<dyn Any + Send>) -> Response {
    ApiError::from_code(ApiErrorCode::Internal).into_response()
}
