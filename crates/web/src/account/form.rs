//! What a form sent, once it is sure that the form was ours.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Extensions, HeaderMap};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::fault::Fault;
use super::origin::{self, From};
use super::signed_in::{Nobody, SignedIn};
use crate::app::App;
use crate::error::{ApiError, Code};

/// A form of somebody who is signed in. It carries the token of their own browser; nobody else's will do.
pub(crate) struct Posted<T> {
    pub(crate) who: SignedIn,
    pub(crate) headers: HeaderMap,
    pub(crate) form: T,
}

/// A form of somebody who is not, such as the sign-in itself: it came from a page of ours.
pub(crate) struct Sent<T> {
    pub(crate) api: crate::api::Api,
    pub(crate) headers: HeaderMap,
    pub(crate) extensions: Extensions,
    pub(crate) form: T,
}

/// Without fields of its own.
#[derive(Deserialize)]
pub(crate) struct Nothing {}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    form: String,
}

/// Why a form is not taken.
pub(crate) enum NotTaken {
    Nobody(Nobody),
    Fault(Fault),
}

impl IntoResponse for NotTaken {
    fn into_response(self) -> Response {
        match self {
            Self::Nobody(nobody) => nobody.into_response(),
            Self::Fault(fault) => fault.into_response(),
        }
    }
}

fn refused(words: &'static str) -> NotTaken {
    let error = ApiError::new(Code::Forbidden, words).phrase("foreign-form");
    NotTaken::Fault(
        error.hint("Nothing was changed. Open the page here again and send the form from it.").into(),
    )
}

fn unreadable(words: String) -> NotTaken {
    NotTaken::Fault(ApiError::new(Code::Invalid, words).hint("Go back and send the form again.").into())
}

async fn text(request: Request, app: &App) -> Result<Bytes, NotTaken> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(unreadable("This page takes forms alone.".to_owned()));
    }
    let read = Bytes::from_request(request, app).await;
    read.map_err(|refusal| unreadable(format!("The form could not be read: {}.", refusal.body_text())))
}

fn fields<T: DeserializeOwned>(body: &[u8]) -> Result<T, NotTaken> {
    serde_urlencoded::from_bytes(body)
        .map_err(|error| unreadable(format!("A field of the form does not fit: {error}.")))
}

impl<T: DeserializeOwned> FromRequest<App> for Posted<T> {
    type Rejection = NotTaken;

    async fn from_request(request: Request, app: &App) -> Result<Self, NotTaken> {
        let fault = |error: ApiError| NotTaken::Fault(error.into());
        let (mut parts, body) = request.into_parts();
        let api = app.api().map_err(fault)?;
        if origin::of(&parts.headers, api.account.public_url.as_deref()) == From::Others {
            return Err(refused("This form was sent from another site's page."));
        }
        let who = <SignedIn as axum::extract::FromRequestParts<App>>::from_request_parts(&mut parts, app);
        let who = who.await.map_err(NotTaken::Nobody)?;
        let headers = parts.headers.clone();
        let body = text(Request::from_parts(parts, body), app).await?;
        let token: Token = fields(&body)?;
        if !who.is_own_form(&token.form) {
            return Err(refused("This form is from before you signed in, or from somewhere else."));
        }
        Ok(Self { who, headers, form: fields(&body)? })
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Sent<T> {
    type Rejection = NotTaken;

    async fn from_request(request: Request, app: &App) -> Result<Self, NotTaken> {
        let api = app.api().map_err(|error| NotTaken::Fault(error.into()))?.clone();
        let (parts, body) = request.into_parts();
        if origin::of(&parts.headers, api.account.public_url.as_deref()) != From::Ours {
            return Err(refused("This form was not sent from a page of ours."));
        }
        let (headers, extensions) = (parts.headers.clone(), parts.extensions.clone());
        let body = text(Request::from_parts(parts, body), app).await?;
        Ok(Self { api, headers, extensions, form: fields(&body)? })
    }
}
