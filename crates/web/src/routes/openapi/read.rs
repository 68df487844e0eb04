//! `GET /openapi.json`: every route, for people and generators.

use std::sync::Arc;

use axum::Extension;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::document::ApiDocument;

/// Get this document.
#[utoipa::path(get, path = "/openapi.json", tag = "openapi", responses(
    (status = 200, description = "The OpenAPI document.", body = Object, content_type = "application/json"),
))]
pub(crate) async fn read_openapi(Extension(document): Extension<Arc<ApiDocument>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], document.json.clone())
}
