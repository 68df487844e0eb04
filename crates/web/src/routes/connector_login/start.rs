//! `POST /connectors/login/{token}`: somebody says yes to what a link is for, and is led to the connector's service.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::Response;
use munshi_connectors::login::{LIFE, OAuthReturnUrls};
use serde::Deserialize;

use super::show::{as_fault, led, logins};
use crate::account::cookies::{self, CONNECTOR};
use crate::account::fault::HtmlPageError;
use crate::account::form::PublicForm;
use crate::account::frame::sent;
use crate::account::opener::{self, ConnectorAuthorizer, ConnectorLinkRequest};
use crate::account::words::PagePhrases;
use crate::app::App;
use crate::error::{ApiError, ApiErrorCode};

#[derive(Deserialize)]
pub(crate) struct StartConnectorLoginForm {
    #[serde(default)]
    form: String,
}

/// Leads there by itself: a form of ours may not be answered with an address elsewhere.
#[derive(Template)]
#[template(path = "account/connector_going.html")]
struct GoingPage {
    words: PagePhrases,
    /// Who lets people in there.
    server: String,
    to: String,
}

pub(crate) async fn start_connector_login(
    State(app): State<App>,
    Path(token): Path<String>,
    posted: PublicForm<StartConnectorLoginForm>,
) -> Result<Response, HtmlPageError> {
    let PublicForm { api, headers, extensions, form } = posted;
    let (token, led) = led(&api, &token).await?;
    let asked =
        ConnectorLinkRequest { headers: &headers, extensions: &extensions, tenant: led.tenant, to: led.to };
    let opener = ConnectorAuthorizer::find(&app, &asked).await?.map_err(|_| opener::not_theirs())?;
    if opener.form(&token) != form.form {
        let words = "This form is from before you signed in, or from somewhere else.";
        let error = ApiError::new(ApiErrorCode::Forbidden, words).phrase("foreign-form");
        return Err(error.hint("Nothing was changed. Open the link again.").into());
    }
    let back = OAuthReturnUrls::to(&api.link(&headers, ""));
    let begun = logins(&api)?.follow(led, &back, opener.who).await.map_err(as_fault)?;
    let words = PagePhrases::of(&headers);
    let mut response = sent(&GoingPage { words, server: begun.issuer, to: begun.to.into() }, StatusCode::OK);
    let kept = cookies::keep(CONNECTOR, begun.token.reveal(), LIFE, api.account.is_secure(&headers));
    response.headers_mut().extend(kept.map(|header| (SET_COOKIE, header)));
    Ok(response)
}
