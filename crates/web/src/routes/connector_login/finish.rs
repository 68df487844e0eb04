//! `GET /connectors/back`: somebody comes back from a connector's service.

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use munshi_connectors::login::Returned;
use munshi_identity::Token;

use super::start::{NOT_IN, as_fault, logins};
use crate::account::cookies::{self, CONNECTOR};
use crate::account::fault::Fault;
use crate::account::frame::sent;
use crate::account::words::Words;
use crate::app::App;
use crate::error::{ApiError, Code};

#[derive(Template)]
#[template(path = "account/connector_in.html")]
struct Done {
    words: Words,
    connector: String,
}

pub(crate) async fn finish_connector_login(
    State(app): State<App>,
    returned: Result<Query<Returned>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let api = app.api()?.clone();
    let elsewhere = || {
        let error =
            ApiError::new(Code::Forbidden, "This sign-in was not begun in this browser, or took too long.");
        error.phrase(NOT_IN).hint("Open the link once more.")
    };
    let is_secure = api.account.is_secure(&headers);
    let token = cookies::read(&headers, CONNECTOR, is_secure).and_then(Token::parse).ok_or_else(elsewhere)?;
    let Query(returned) = returned.map_err(|_| elsewhere())?;
    let ended = logins(&api)?.finish(&token, returned).await.map_err(as_fault)?;
    let engine = api.engine.clone();
    api.tasks.spawn(async move {
        if let Err(error) = engine.take_up_let_in().await {
            tracing::warn!(%error, "runs that waited for a login are taken up by the next sweep");
        }
    });
    let done = Done { words: Words::of(&headers), connector: ended.connector };
    let mut response = sent(&done, StatusCode::OK);
    response.headers_mut().extend(cookies::forget(CONNECTOR, is_secure).map(|header| (SET_COOKIE, header)));
    Ok(response)
}
