//! `GET /account/oidc/start`: to the other service.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::SecretToken;
use serde::Deserialize;

use crate::account::cookies::{self, ELSEWHERE};
use crate::account::local_path;
use crate::account::oidc::{LIFE, OidcClient, OidcError};
use crate::account::page_error::HtmlPageError;
use crate::api::ApiState;
use crate::app::App;
use crate::error::{ApiError, ApiErrorCode};

#[derive(Deserialize)]
pub(crate) struct StartOidcQuery {
    next: Option<String>,
}

pub(crate) async fn start_oidc(
    State(app): State<App>,
    headers: HeaderMap,
    asked: Result<Query<StartOidcQuery>, QueryRejection>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let asked = asked.ok().and_then(|Query(asked)| asked.next);
    let next = local_path::sanitize(asked.as_deref());
    let token = SecretToken::random(api.random.as_ref());
    let to = get_client(api)?
        .build_authorization_url(&token, &callback_url(api, &headers), api.clock.now())
        .await
        .map_err(to_page_error)?;
    let mut response = Redirect::to(&to).into_response();
    // Both are letters that a cookie may hold.
    let kept = format!("{}.{}", token.reveal(), local_path::percent_encode(next));
    if let Some(header) = cookies::build(ELSEWHERE, &kept, LIFE, api.account.is_secure(&headers)) {
        response.headers_mut().append(SET_COOKIE, header);
    }
    Ok(response)
}

pub(super) fn get_client(api: &ApiState) -> Result<&OidcClient, ApiError> {
    let missing = || ApiError::new(ApiErrorCode::NotFound, "No sign-in service is set up.");
    api.account.oidc.as_ref().ok_or_else(missing)
}

/// Where the service sends people back to; it has to know this address.
pub(super) fn callback_url(api: &ApiState, headers: &HeaderMap) -> String {
    api.build_url(headers, "/account/oidc/back")
}

/// What a person hears; the rest is for the log.
pub(super) fn to_page_error(error: OidcError) -> HtmlPageError {
    let hint = "Go back to the sign-in page and try again.";
    match error {
        error @ OidcError::Away(_) => {
            ApiError::new(ApiErrorCode::Unavailable, "The sign-in service is temporarily unreachable.")
                .caused_by(error)
                .into()
        }
        OidcError::State => ApiError::new(
            ApiErrorCode::Forbidden,
            "This sign-in was not started in this browser, or took too long.",
        )
        .hint(hint)
        .into(),
        OidcError::Refused(_) => {
            ApiError::new(ApiErrorCode::Forbidden, "The sign-in service refused the sign-in.")
                .hint(hint)
                .into()
        }
        error @ OidcError::Distrust(_) => {
            ApiError::new(ApiErrorCode::Forbidden, "The sign-in service's response could not be verified.")
                .hint(hint)
                .caused_by(error)
                .into()
        }
        OidcError::Domain => {
            ApiError::new(ApiErrorCode::Forbidden, "E-mail addresses of this domain are not allowed here.")
                .hint("Ask whoever runs this server.")
                .into()
        }
    }
}
