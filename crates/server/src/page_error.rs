//! A no that a person reads in their browser.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};

use crate::error::{ApiError, ApiErrorCode};
use crate::html_page::PageNotice;
use crate::page_phrases::PagePhrases;

/// An error whose words a person reads in their browser.
#[derive(Debug)]
pub struct HtmlPageError(ApiError);

impl HtmlPageError {
    pub fn status(&self) -> StatusCode {
        self.0.code().status()
    }

    /// The words alone, for a page that goes on around them.
    pub fn to_notice(&self, words: PagePhrases) -> Option<PageNotice> {
        Some(build_notice(&self.0, words))
    }

    /// Whether it is about what somebody wrote, and they can write it again.
    pub fn is_input_error(&self) -> bool {
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
pub struct PendingErrorPage(pub Arc<ApiError>);

/// In the reader's language as far as there are words for it; what it is exactly stands beside them in English.
pub fn build_notice(error: &ApiError, words: PagePhrases) -> PageNotice {
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
