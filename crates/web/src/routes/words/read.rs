//! `GET /words/{voice}`: what pages and the widget say themselves.

use std::collections::BTreeMap;

use axum::http::header::{CACHE_CONTROL, HeaderName};

use crate::api::ask::UrlPathParameter;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::visitor::words;

/// What pages say in a voice, by name; `{name}` stands for who answers.
#[utoipa::path(get, path = "/words/{voice}", tag = "words",
    params(("voice" = String, Path, description = "A language, or one in Latin letters.", example = "hi-latn")),
    responses((status = 200, description = "The words.", body = BTreeMap<String, String>)))]
pub(crate) async fn read_words(
    UrlPathParameter(code): UrlPathParameter<String>,
) -> Result<([(HeaderName, &'static str); 1], Json<BTreeMap<String, String>>), ApiError> {
    let voice = words::voice(&code).ok_or_else(|| {
        ApiError::new(ApiErrorCode::NotFound, "Pages do not speak that.")
            .hint("Write a code such as en, hi or ta, or hi-latn for Latin letters.")
    })?;
    Ok(([(CACHE_CONTROL, "public, max-age=600")], Json(words::all(voice))))
}
