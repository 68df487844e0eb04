//! Pages for people, rendered on the server from `templates/`.
//!
//! To add a page: a template that extends `layout.html`, a struct that derives `askama::Template`, and `Page(…)` around
//! it as the answer. Nothing inline: styles and scripts are assets, and what a script needs to know stands in `data-`
//! attributes, where the template escapes it.

use askama::Template;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};

use crate::error::ApiError;

/// Only what we sent ourselves runs or is loaded. Pictures may stand in the page itself: QR codes do.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A page as an answer.
pub(crate) struct Page<T>(pub(crate) T);

impl<T: Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        match self.0.render() {
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
}
