//! `GET /widget.js`: the widget, for anybody's page.

use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use munshi_server::error::{ApiError, ApiErrorCode};

use crate::assets;

/// Pages that shut out what others serve let this in.
const SHARED: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Get the widget script, which defines `<munshi-chat binding="…">`.
#[utoipa::path(get, path = "/widget.js", tag = "widget",
    responses((status = 200, description = "The script.", body = String, content_type = "text/javascript")))]
pub(crate) async fn read_widget(headers: HeaderMap) -> Result<Response, ApiError> {
    let mut response = assets::serve_by_name("widget.js", &headers)
        .ok_or_else(|| ApiError::from_code(ApiErrorCode::NotFound))?;
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response.headers_mut().insert(SHARED, HeaderValue::from_static("cross-origin"));
    Ok(response)
}
