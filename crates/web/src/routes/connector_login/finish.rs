//! `GET /connectors/back`: somebody comes back from a connector's service. What they bring is taken out of the address
//! before anything is shown: a page that is loaded again says the same, and nobody reads it over their shoulder.

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_connectors::login::{ConnectorLoginUser, OAuthCallback};
use munshi_identity::SecretToken;
use munshi_server::cookies::{self, CONNECTOR};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::html_page::render_uncached;
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;

use super::show::{NOT_IN, get_logins, to_page_error};
use crate::account::connector_authorizer::{self, ConnectorAuthorizer, ConnectorLinkRequest};
use crate::app::App;

const BACK: &str = "/connectors/back";

#[derive(Template)]
#[template(path = "account/connector_in.html")]
struct Done {
    words: PagePhrases,
    connector: String,
}

pub(crate) async fn finish_connector_login(
    State(app): State<App>,
    returned: Result<Query<OAuthCallback>, QueryRejection>,
    headers: HeaderMap,
    extensions: Extensions,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?.clone();
    let elsewhere = || {
        let error = ApiError::new(
            ApiErrorCode::Forbidden,
            "This sign-in was not started in this browser, or took too long.",
        );
        error.phrase(NOT_IN).hint("Open the link again.")
    };
    let is_secure = api.account.is_secure(&headers);
    let token =
        cookies::read(&headers, CONNECTOR, is_secure).and_then(SecretToken::parse).ok_or_else(elsewhere)?;
    let Query(returned) = returned.map_err(|_| elsewhere())?;
    let logins = get_logins(&api)?;
    if returned == OAuthCallback::default() {
        let ended = logins.find_completed(&token).await.map_err(to_page_error)?.ok_or_else(elsewhere)?;
        return Ok(render_uncached(
            &Done { words: PagePhrases::from_headers(&headers), connector: ended.connector },
            StatusCode::OK,
        ));
    }
    let returning = logins.load_callback_owner(&token, &returned).await.map_err(to_page_error)?;
    let to = match returning.who {
        Some(ConnectorLoginUser::Person(person)) => Some(person),
        Some(ConnectorLoginUser::Operator(_) | ConnectorLoginUser::Here) | None => None,
    };
    // Whoever began may be nobody any more, or signed out: they are asked for once more.
    let asked =
        ConnectorLinkRequest { headers: &headers, extensions: &extensions, tenant: returning.tenant, to };
    let opener = ConnectorAuthorizer::find(&app, &asked)
        .await?
        .map_err(|_| connector_authorizer::forbidden_error())?;
    logins.finish(&token, returned, Some(opener.who)).await.map_err(to_page_error)?;
    let engine = api.engine.clone();
    api.tasks.spawn(async move {
        if let Err(error) = engine.resume_after_login().await {
            tracing::warn!(%error, "failed to resume runs that waited for a login; the next sweep retries");
        }
    });
    Ok(Redirect::to(BACK).into_response())
}
