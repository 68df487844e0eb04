//! Refuses bodies over the limit, announced or not.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use http_body_util::Limited;

use crate::error::{ApiError, ApiErrorCode};

/// A body that announces its length is refused before it is read. One that does not is cut off at the limit:
/// reading it fails, and extractors answer 413.
pub(super) async fn limit_body(State(limit): State<usize>, request: Request, next: Next) -> Response {
    let announced = request.body().size_hint().lower();
    if usize::try_from(announced).map_or(true, |length| length > limit) {
        return too_large(announced, limit).into_response();
    }
    next.run(request.map(|body| Body::new(Limited::new(body, limit)))).await
}

fn too_large(announced: u64, limit: usize) -> ApiError {
    ApiError::new(
        ApiErrorCode::TooLarge,
        format!("The request body has {announced} bytes; the limit is {limit}."),
    )
}
