//! `GET /account/oidc/start`: to the other service.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::Token;
use serde::Deserialize;

use crate::account::cookies::{self, ELSEWHERE};
use crate::account::fault::Fault;
use crate::account::local;
use crate::account::oidc::{LIFE, NotIn, Oidc};
use crate::api::Inner;
use crate::app::App;
use crate::error::{ApiError, Code};

#[derive(Deserialize)]
pub(crate) struct Asked {
    next: Option<String>,
}

pub(crate) async fn start_oidc(
    State(app): State<App>,
    headers: HeaderMap,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Fault> {
    let api = app.api()?;
    let asked = asked.ok().and_then(|Query(asked)| asked.next);
    let next = local::path(asked.as_deref());
    let token = Token::random(api.random.as_ref());
    let to = service(api)?.start(&token, &back(api, &headers), api.clock.now()).await.map_err(as_fault)?;
    let mut response = Redirect::to(&to).into_response();
    // Both are letters that a cookie may hold.
    let kept = format!("{}.{}", token.reveal(), local::encoded(next));
    if let Some(header) = cookies::keep(ELSEWHERE, &kept, LIFE, api.account.is_secure(&headers)) {
        response.headers_mut().append(SET_COOKIE, header);
    }
    Ok(response)
}

pub(super) fn service(api: &Inner) -> Result<&Oidc, ApiError> {
    let missing = || ApiError::new(Code::NotFound, "No other service is set up to sign in with.");
    api.account.oidc.as_ref().ok_or_else(missing)
}

/// Where the service sends people back to; it has to know this address.
pub(super) fn back(api: &Inner, headers: &HeaderMap) -> String {
    api.link(headers, "/account/oidc/back")
}

/// What a person hears; the rest is for the log.
pub(super) fn as_fault(error: NotIn) -> Fault {
    let hint = "Go back to the sign-in and try once more.";
    match error {
        error @ NotIn::Away(_) => {
            ApiError::new(Code::Unavailable, "The service to sign in with can't be reached just now.")
                .caused_by(error)
                .into()
        }
        NotIn::State => {
            ApiError::new(Code::Forbidden, "This sign-in was not begun in this browser, or took too long.")
                .hint(hint)
                .into()
        }
        NotIn::Refused(_) => {
            ApiError::new(Code::Forbidden, "The other service did not let you in.").hint(hint).into()
        }
        error @ NotIn::Distrust(_) => {
            ApiError::new(Code::Forbidden, "What the other service says can't be believed.")
                .hint(hint)
                .caused_by(error)
                .into()
        }
        NotIn::Domain => ApiError::new(Code::Forbidden, "E-mails of this domain are not let in here.")
            .hint("Ask whoever runs this installation.")
            .into(),
    }
}
