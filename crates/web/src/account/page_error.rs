//! A no, as a page.

use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};

use super::frame::{PageNotice, render_uncached};
use super::phrases::PagePhrases;
use crate::error::{ApiError, ApiErrorCode};

/// An error whose words a person reads in their browser.
#[derive(Debug)]
pub(crate) struct HtmlPageError(ApiError);

#[derive(Template)]
#[template(path = "account/fault.html")]
struct FaultPage<'a> {
    words: PagePhrases,
    told: PageNotice,
    hint: &'a str,
    /// Ours: then what they did is not to blame.
    ours: bool,
}

impl HtmlPageError {
    pub(crate) fn status(&self) -> StatusCode {
        self.0.code().status()
    }

    /// The words alone, for a page that goes on around them.
    pub(crate) fn to_notice(&self, words: PagePhrases) -> Option<PageNotice> {
        Some(build_notice(&self.0, words))
    }

    /// Whether it is about what somebody wrote, and they can write it again.
    pub(crate) fn is_input_error(&self) -> bool {
        matches!(
            self.0.code(),
            ApiErrorCode::Invalid | ApiErrorCode::Conflict | ApiErrorCode::TooManyRequests
        )
    }
}

impl<E: Into<ApiError>> From<E> for HtmlPageError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for HtmlPageError {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = status.into_response();
        if let Some(wait) = self.0.retry_after {
            let seconds = wait.as_millis().div_ceil(1000).max(1);
            if let Ok(value) = seconds.to_string().parse() {
                response.headers_mut().insert(RETRY_AFTER, value);
            }
        }
        response.extensions_mut().insert(PendingErrorPage(Arc::new(self.0)));
        response
    }
}

/// An error to be shown as a page: at the edge, where it is logged and the reader's language is known.
#[derive(Clone)]
pub(crate) struct PendingErrorPage(pub(crate) Arc<ApiError>);

impl PendingErrorPage {
    /// Puts the page into the answer, keeping its status and headers such as `retry-after`.
    pub(crate) fn render_into(&self, words: PagePhrases, mut response: Response) -> Response {
        let status = response.status();
        let (told, hint) =
            (build_notice(&self.0, words), if words.is_english() { &*self.0.hint } else { "" });
        let page = render_uncached(&FaultPage { words, told, hint, ours: status.is_server_error() }, status);
        let (parts, body) = page.into_parts();
        response.headers_mut().extend(parts.headers);
        *response.body_mut() = body;
        response
    }
}

/// In the reader's language as far as there are words for it; what it is exactly stands beside them in English.
fn build_notice(error: &ApiError, words: PagePhrases) -> PageNotice {
    let message = error.message.clone().into_owned();
    if words.is_english() {
        return PageNotice { good: false, words: message, detail: String::new() };
    }
    if let Some(phrase) = error.phrase {
        return PageNotice { good: false, words: words.render(phrase), detail: String::new() };
    }
    let phrase = match error.code() {
        ApiErrorCode::Forbidden => "forbidden",
        ApiErrorCode::NotFound => "not-found",
        ApiErrorCode::Conflict => "conflict",
        ApiErrorCode::TooManyRequests => "too-many",
        code if code.status().is_server_error() => "went-wrong",
        _ => "invalid",
    };
    PageNotice { good: false, words: words.render(phrase), detail: message }
}
