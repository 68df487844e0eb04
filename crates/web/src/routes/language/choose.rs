//! `GET /account/language`: what pages are read in, in this browser.

use std::time::Duration;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::header::{HOST, REFERER, SET_COOKIE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_server::cookies::{self, LANGUAGE};
use munshi_server::local_path;
use munshi_types::Language;
use serde::Deserialize;

/// A year.
const KEPT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

#[derive(Deserialize)]
pub(crate) struct ChooseLanguageQuery {
    language: String,
}

/// Keeps the choice, and goes back to the page it was made on.
pub(crate) async fn choose_language(
    headers: HeaderMap,
    chosen: Result<Query<ChooseLanguageQuery>, QueryRejection>,
) -> Response {
    let mut response =
        Redirect::to(local_path::sanitize(find_referring_path(&headers).as_deref())).into_response();
    let language = chosen.ok().and_then(|Query(chosen)| chosen.language.parse::<Language>().ok());
    let kept = language.and_then(|language| cookies::build(LANGUAGE, language.code(), KEPT, false));
    response.headers_mut().extend(kept.map(|kept| (SET_COOKIE, kept)));
    response
}

/// The path of the page that asked, where it is one of ours. One that ended a form is shown again without it.
fn find_referring_path(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let from: Uri = text(REFERER)?.parse().ok()?;
    let is_ours = from.authority().map(Authority::as_str) == text(HOST);
    let shown = from.path().strip_suffix("/accept").unwrap_or(from.path());
    is_ours.then(|| from.query().map_or_else(|| shown.to_owned(), |query| format!("{shown}?{query}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn one_goes_back_to_pages_of_ours_alone() {
        let sent = |from: &'static str| {
            let pairs =
                [(HOST, HeaderValue::from_static("shop.example")), (REFERER, HeaderValue::from_static(from))];
            find_referring_path(&HeaderMap::from_iter(pairs))
        };
        assert_eq!(sent("https://shop.example/account/keys").as_deref(), Some("/account/keys"));
        assert_eq!(
            sent("https://shop.example/account/sign-in?next=%2Fa").as_deref(),
            Some("/account/sign-in?next=%2Fa")
        );
        assert_eq!(sent("https://evil.example/account"), None);
        assert_eq!(sent("/account"), None);
        assert_eq!(find_referring_path(&HeaderMap::new()), None);
    }
}
