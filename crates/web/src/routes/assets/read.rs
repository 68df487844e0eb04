//! `GET /assets/{name}`: what a page loads.

use axum::http::HeaderMap;
use axum::response::Response;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::parameters::UrlPathParameter;

use crate::assets;

/// Get a style sheet, script or image by the name used in a page. Its content never changes.
#[utoipa::path(get, path = "/assets/{name}", tag = "assets",
    params(("name" = String, Path, description = "The file name.")),
    responses((status = 200, description = "The file.", body = String, content_type = "text/css")))]
pub(crate) async fn read_asset(
    UrlPathParameter(name): UrlPathParameter<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    assets::serve_by_path(&name, &headers).ok_or_else(|| ApiError::from_code(ApiErrorCode::NotFound))
}
