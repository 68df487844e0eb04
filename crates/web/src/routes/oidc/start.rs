//! `GET /account/oidc/start`: to the other service.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::SecretToken;
use serde::Deserialize;

use crate::account::cookies::{self, ELSEWHERE};
use crate::account::fault::HtmlPageError;
use crate::account::local;
use crate::account::oidc::{LIFE, OidcClient, OidcError};
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
    let next = local::path(asked.as_deref());
    let token = SecretToken::random(api.random.as_ref());
    let to = service(api)?.start(&token, &back(api, &headers), api.clock.now()).await.map_err(as_fault)?;
    let mut response = Redirect::to(&to).into_response();
    // Both are letters that a cookie may hold.
    let kept = format!("{}.{}", token.reveal(), local::encoded(next));
    if let Some(header) = cookies::keep(ELSEWHERE, &kept, LIFE, api.account.is_secure(&headers)) {
        response.headers_mut().append(SET_COOKIE, header);
    }
    Ok(response)
}

pub(super) fn service(api: &ApiState) -> Result<&OidcClient, ApiError> {
    let missing = || ApiError::new(ApiErrorCode::NotFound, "No other service is set up to sign in with.");
    api.account.oidc.as_ref().ok_or_else(missing)
}

/// Where the service sends people back to; it has to know this address.
pub(super) fn back(api: &ApiState, headers: &HeaderMap) -> String {
    api.link(headers, "/account/oidc/back")
}

/// What a person hears; the rest is for the log.
pub(super) fn as_fault(error: OidcError) -> HtmlPageError {
    let hint = "Go back to the sign-in and try once more.";
    match error {
        error @ OidcError::Away(_) => {
            ApiError::new(ApiErrorCode::Unavailable, "The service to sign in with can't be reached just now.")
                .caused_by(error)
                .into()
        }
        OidcError::State => ApiError::new(
            ApiErrorCode::Forbidden,
            "This sign-in was not begun in this browser, or took too long.",
        )
        .hint(hint)
        .into(),
        OidcError::Refused(_) => {
            ApiError::new(ApiErrorCode::Forbidden, "The other service did not let you in.").hint(hint).into()
        }
        error @ OidcError::Distrust(_) => {
            ApiError::new(ApiErrorCode::Forbidden, "What the other service says can't be believed.")
                .hint(hint)
                .caused_by(error)
                .into()
        }
        OidcError::Domain => {
            ApiError::new(ApiErrorCode::Forbidden, "E-mails of this domain are not let in here.")
                .hint("Ask whoever runs this installation.")
                .into()
        }
    }
}
