//! A page as an answer. Templates are their owner's.

use askama::Template;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};

use crate::error::ApiError;

/// Only what we sent ourselves runs or is loaded. Pictures may stand in the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A page as an answer.
pub struct HtmlPage<T>(pub T);

impl<T: Template> IntoResponse for HtmlPage<T> {
    fn into_response(self) -> Response {
        build_response(self.0.render())
    }
}

/// Not generic, so that it is compiled once for all pages.
fn build_response(rendered: askama::Result<String>) -> Response {
    match rendered {
        Ok(text) => {
            let headers = [
                (CONTENT_TYPE, "text/html; charset=utf-8"),
                (CONTENT_SECURITY_POLICY, POLICY),
                // What is shown depends on who asks, and a page that is gone back to is asked for again.
                (CACHE_CONTROL, "private, no-cache"),
            ];
            (headers, Html(text)).into_response()
        }
        Err(error) => ApiError::internal(error).into_response(),
    }
}

/// A page that nobody keeps a copy of, not even the browser's way back. The referrer stays with us: with none at all,
/// browsers would not say that a form is ours.
pub fn render_uncached<T: Template>(page: &T, status: StatusCode) -> Response {
    build_uncached(page.render(), status)
}

fn build_uncached(rendered: askama::Result<String>, status: StatusCode) -> Response {
    let mut response = build_response(rendered);
    if response.status().is_success() {
        *response.status_mut() = status;
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// What a page says at its top.
pub struct PageNotice {
    pub good: bool,
    pub words: String,
    /// More of it, in English, where `words` are in another language and say less; else empty.
    pub detail: String,
}

impl PageNotice {
    pub fn success(words: impl Into<String>) -> Option<Self> {
        Some(Self { good: true, words: words.into(), detail: String::new() })
    }

    pub fn failure(words: impl Into<String>) -> Option<Self> {
        Some(Self { good: false, words: words.into(), detail: String::new() })
    }
}
