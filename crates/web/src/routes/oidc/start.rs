//! `GET /account/oidc/start`: to the other service.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::SecretToken;
use munshi_server::access::AccessState;
use munshi_server::cookies::{self, ELSEWHERE};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::local_path;
use munshi_server::oidc::{LIFE, OidcClient, OidcError};
use munshi_server::page_error::HtmlPageError;
use serde::Deserialize;

use crate::app::App;

#[derive(Deserialize)]
pub(crate) struct StartOidcQuery {
    next: Option<String>,
}

pub(crate) async fn start_oidc(
    State(app): State<App>,
    headers: HeaderMap,
    asked: Result<Query<StartOidcQuery>, QueryRejection>,
) -> Result<Response, HtmlPageError> {
    let access = app.access()?;
    let asked = asked.ok().and_then(|Query(asked)| asked.next);
    let next = local_path::sanitize(asked.as_deref());
    let token = SecretToken::random(access.random.as_ref());
    let to = get_client(access)?
        .build_authorization_url(&token, &callback_url(access, &headers), access.clock.now())
        .await
        .map_err(to_page_error)?;
    let mut response = Redirect::to(&to).into_response();
    // Both are letters that a cookie may hold.
    let kept = format!("{}.{}", token.reveal(), local_path::percent_encode(next));
    if let Some(header) = cookies::build(ELSEWHERE, &kept, LIFE, access.account.is_secure(&headers)) {
        response.headers_mut().append(SET_COOKIE, header);
    }
    Ok(response)
}

pub(super) fn get_client(access: &AccessState) -> Result<&OidcClient, ApiError> {
    let missing = || ApiError::new(ApiErrorCode::NotFound, "No sign-in service is set up.");
    access.account.oidc.as_ref().ok_or_else(missing)
}

/// Where the service sends people back to; it has to know this address.
pub(super) fn callback_url(access: &AccessState, headers: &HeaderMap) -> String {
    access.build_url(headers, "/account/oidc/back")
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
