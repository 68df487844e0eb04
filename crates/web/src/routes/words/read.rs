//! `GET /words/{voice}`: what pages and the widget say themselves.

use std::collections::BTreeMap;

use axum::http::header::{CACHE_CONTROL, HeaderName};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_server::phrases;

/// Get the page texts of a locale, by name; `{name}` is the placeholder for who answers.
#[utoipa::path(get, path = "/words/{voice}", tag = "words",
    params(("voice" = String, Path, description = "A locale: a language, or a language in Latin script.", example = "hi-latn")),
    responses((status = 200, description = "The texts.", body = BTreeMap<String, String>)))]
pub(crate) async fn read_words(
    UrlPathParameter(code): UrlPathParameter<String>,
) -> Result<([(HeaderName, &'static str); 1], Json<BTreeMap<String, String>>), ApiError> {
    let voice = phrases::find_locale(&code).ok_or_else(|| {
        ApiError::new(ApiErrorCode::NotFound, "No page texts exist for this locale.")
            .hint("Use a code such as en, hi or ta, or hi-latn for Latin script.")
    })?;
    Ok(([(CACHE_CONTROL, "public, max-age=600")], Json(phrases::render_all(voice))))
}
