//! `GET /connectors/login/{token}`: somebody follows a link to let us into a connector's service.

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, REFERRER_POLICY, SET_COOKIE};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_connectors::Error;
use munshi_connectors::login::{Back, LIFE, Logins};
use munshi_identity::Token;

use crate::account::cookies::{self, CONNECTOR};
use crate::account::fault::Fault;
use crate::api::Inner;
use crate::app::App;
use crate::error::{ApiError, Code};

/// What somebody hears in their own language who was not let in.
pub(super) const NOT_IN: &str = "connector-not-in";

pub(crate) async fn start_connector_login(
    State(app): State<App>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let api = app.api()?;
    let logins = logins(api)?;
    let led = match Token::parse(&token) {
        Some(token) => logins.led(&token).await.map_err(as_fault)?,
        None => None,
    };
    let over = || {
        let error = ApiError::new(
            Code::NotFound,
            "This link is over: somebody has signed in, or its day has passed.",
        );
        error
            .phrase("link-used")
            .hint("Ask again in the conversation it came from; `munshi connector login NAME` makes another.")
    };
    let back = Back::to(&api.link(&headers, ""));
    let begun = logins.follow(led.ok_or_else(over)?, &back).await.map_err(as_fault)?;
    let mut response = Redirect::to(begun.to.as_str()).into_response();
    let kept = cookies::keep(CONNECTOR, begun.token.reveal(), LIFE, api.account.is_secure(&headers));
    response.headers_mut().extend(kept.map(|header| (SET_COOKIE, header)));
    // The link itself is nobody else's business.
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

pub(super) fn logins(api: &Inner) -> Result<&Logins, ApiError> {
    let missing = || ApiError::new(Code::NotFound, "Nobody can sign in at a connector's service here.");
    api.logins.as_ref().ok_or_else(missing)
}

/// What a person hears; the rest is for the log.
pub(super) fn as_fault(error: Error) -> Fault {
    match error {
        Error::NoLogin(words) => {
            ApiError::new(Code::Forbidden, format!("The sign-in came to nothing: {words}."))
                .phrase(NOT_IN)
                .hint("Open the link once more, or ask for another.")
                .into()
        }
        error @ (Error::Unreachable(_) | Error::TooSlow(_)) => {
            ApiError::new(Code::Unavailable, "The service to sign in with can't be reached just now.")
                .caused_by(error)
                .into()
        }
        Error::Store(error) => ApiError::from(error).into(),
        error @ (Error::Safety(_) | Error::Invalid(_) | Error::WantsLogin(_)) => {
            ApiError::internal(error).into()
        }
    }
}
