//! `GET /assets/{name}`: what a page loads.

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::assets;
use crate::error::{ApiError, Code};

/// A style sheet, script or picture under the name that a page gives.
pub(crate) async fn read_asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    assets::at(&name, &headers).ok_or_else(|| ApiError::plain(Code::NotFound))
}
