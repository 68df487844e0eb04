//! `GET /assets/{name}`: what a page loads.

use axum::http::HeaderMap;
use axum::response::Response;

use crate::api::ask::UrlPathParameter;
use crate::assets;
use crate::error::{ApiError, ApiErrorCode};

/// A style sheet, script or picture under the name that a page gives. It never changes.
#[utoipa::path(get, path = "/assets/{name}", tag = "assets",
    params(("name" = String, Path, description = "As a page names it.")),
    responses((status = 200, description = "The file.", body = String, content_type = "text/css")))]
pub(crate) async fn read_asset(
    UrlPathParameter(name): UrlPathParameter<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    assets::at(&name, &headers).ok_or_else(|| ApiError::plain(ApiErrorCode::NotFound))
}
