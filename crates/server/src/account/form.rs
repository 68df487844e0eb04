//! What a form sent, once it is sure that the form was ours.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Extensions, HeaderMap};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::access::{Access, AccessSource};
use crate::account::origin::{self, RequestOrigin};
use crate::account::signed_in_operator::{SignInRejection, SignedInOperator};
use crate::error::{ApiError, ApiErrorCode};
use crate::page_error::HtmlPageError;

/// A form of somebody who is signed in. It carries the token of their own browser; nobody else's will do.
pub struct SignedInForm<T> {
    pub who: SignedInOperator,
    pub headers: HeaderMap,
    pub form: T,
}

/// A form of somebody who is not, such as the sign-in itself: it came from a page of ours.
pub struct PublicForm<T> {
    pub access: Access,
    pub headers: HeaderMap,
    pub extensions: Extensions,
    pub form: T,
}

/// Without fields of its own.
#[derive(Deserialize)]
pub struct EmptyForm {}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    form: String,
}

/// Why a form is not taken.
pub enum FormRejection {
    Nobody(SignInRejection),
    Fault(HtmlPageError),
}

impl IntoResponse for FormRejection {
    fn into_response(self) -> Response {
        match self {
            Self::Nobody(nobody) => nobody.into_response(),
            Self::Fault(fault) => fault.into_response(),
        }
    }
}

fn foreign_form_error(words: &'static str) -> FormRejection {
    let error = ApiError::new(ApiErrorCode::Forbidden, words).phrase("foreign-form");
    FormRejection::Fault(error.hint("Nothing was changed. Reload the page and submit the form again.").into())
}

fn unreadable_form_error(words: String) -> FormRejection {
    FormRejection::Fault(
        ApiError::new(ApiErrorCode::Invalid, words).hint("Go back and submit the form again.").into(),
    )
}

async fn read_body(request: Request) -> Result<Bytes, FormRejection> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(unreadable_form_error("This page accepts only form data.".to_owned()));
    }
    let read = Bytes::from_request(request, &()).await;
    read.map_err(|refusal| unreadable_form_error(format!("The form is malformed: {}.", refusal.body_text())))
}

fn parse_fields<T: DeserializeOwned>(body: &[u8]) -> Result<T, FormRejection> {
    serde_urlencoded::from_bytes(body)
        .map_err(|error| unreadable_form_error(format!("A form field is invalid: {error}.")))
}

impl<T: DeserializeOwned, S: AccessSource> FromRequest<S> for SignedInForm<T> {
    type Rejection = FormRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, FormRejection> {
        // Boxed and without `T`, so that its code is not part of every handler's.
        let (who, headers, body) = read_signed_in(request, state.access()).boxed().await?;
        Ok(Self { who, headers, form: parse_fields(&body)? })
    }
}

async fn read_signed_in(
    request: Request,
    access: Result<&Access, ApiError>,
) -> Result<(SignedInOperator, HeaderMap, Bytes), FormRejection> {
    let access = access.map_err(|error| FormRejection::Fault(error.into()))?;
    let (parts, body) = request.into_parts();
    if origin::classify(&parts.headers, access.account.public_url.as_deref()) == RequestOrigin::Others {
        return Err(foreign_form_error("This form was submitted from another site."));
    }
    let who = SignedInOperator::extract(&parts, Ok(access)).await.map_err(FormRejection::Nobody)?;
    let headers = parts.headers.clone();
    let body = read_body(Request::from_parts(parts, body)).await?;
    let token: Token = parse_fields(&body)?;
    if !who.is_own_form(&token.form) {
        return Err(foreign_form_error("This form was loaded before you signed in, or on another site."));
    }
    Ok((who, headers, body))
}

impl<T: DeserializeOwned, S: AccessSource> FromRequest<S> for PublicForm<T> {
    type Rejection = FormRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, FormRejection> {
        // Boxed and without `T`, as above.
        let sent = read_public(request, state.access()).boxed().await?;
        let PublicForm { access, headers, extensions, form } = sent;
        Ok(Self { access, headers, extensions, form: parse_fields(&form)? })
    }
}

async fn read_public(
    request: Request,
    access: Result<&Access, ApiError>,
) -> Result<PublicForm<Bytes>, FormRejection> {
    let access = access.map_err(|error| FormRejection::Fault(error.into()))?.clone();
    let (parts, body) = request.into_parts();
    if origin::classify(&parts.headers, access.account.public_url.as_deref()) != RequestOrigin::Ours {
        return Err(foreign_form_error("This form was not submitted from a page of this server."));
    }
    let (headers, extensions) = (parts.headers.clone(), parts.extensions.clone());
    let form = read_body(Request::from_parts(parts, body)).await?;
    Ok(PublicForm { access, headers, extensions, form })
}
