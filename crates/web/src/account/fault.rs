//! A no, as a page.

use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};

use super::frame::sent;
use crate::error::ApiError;

/// An error whose words a person reads in their browser.
#[derive(Debug)]
pub(crate) struct Fault(ApiError);

#[derive(Template)]
#[template(path = "account/fault.html")]
struct FaultPage<'a> {
    message: &'a str,
    hint: &'a str,
    /// Ours: then what they did is not to blame.
    ours: bool,
}

impl Fault {
    pub(crate) fn status(&self) -> StatusCode {
        self.0.code().status()
    }

    /// The words alone, for a page that goes on around them.
    pub(crate) fn words(&self) -> String {
        self.0.message.clone().into_owned()
    }

    /// Whether it is about what somebody wrote, and they can write it again.
    pub(crate) fn is_about_input(&self) -> bool {
        use crate::error::Code;
        matches!(self.0.code(), Code::Invalid | Code::Conflict | Code::TooManyRequests)
    }
}

impl<E: Into<ApiError>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let status = self.status();
        let page = FaultPage { message: &self.0.message, hint: &self.0.hint, ours: status.is_server_error() };
        let mut response = sent(&page, status);
        if let Some(wait) = self.0.retry_after {
            let seconds = wait.as_millis().div_ceil(1000).max(1);
            if let Ok(value) = seconds.to_string().parse() {
                response.headers_mut().insert(RETRY_AFTER, value);
            }
        }
        if self.0.causes().is_some() {
            // Logged at the edge, as every error is; the page stays what it is.
            response.extensions_mut().insert(Shown(Arc::new(self.0)));
        }
        response
    }
}

/// An error that was shown as a page already.
#[derive(Clone)]
pub(crate) struct Shown(pub(crate) Arc<ApiError>);
