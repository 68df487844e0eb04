//! `POST /connectors/login/{token}`: somebody says yes to what a link is for, and is led to the connector's service.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::Response;
use munshi_connectors::login::{LIFE, OAuthReturnUrls};
use munshi_server::account::form::PublicForm;
use munshi_server::cookies::{self, CONNECTOR};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::html_page::render_uncached;
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;
use serde::Deserialize;

use super::show::{get_logins, load_link, to_page_error};
use crate::account::connector_authorizer::{self, ConnectorAuthorizer, ConnectorLinkRequest};
use crate::app::App;

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
    let PublicForm { headers, extensions, form, .. } = posted;
    let api = app.api()?;
    let (token, led) = load_link(api, &token).await?;
    let asked =
        ConnectorLinkRequest { headers: &headers, extensions: &extensions, tenant: led.tenant, to: led.to };
    let opener = ConnectorAuthorizer::find(&app, &asked)
        .await?
        .map_err(|_| connector_authorizer::forbidden_error())?;
    if opener.form_token(&token) != form.form {
        let words = "This form was loaded before you signed in, or on another site.";
        let error = ApiError::new(ApiErrorCode::Forbidden, words).phrase("foreign-form");
        return Err(error.hint("Nothing was changed. Open the link again.").into());
    }
    let back = OAuthReturnUrls::from_base(&api.build_url(&headers, ""));
    let begun = get_logins(api)?.begin_from_link(led, &back, opener.who).await.map_err(to_page_error)?;
    let words = PagePhrases::from_headers(&headers);
    let mut response =
        render_uncached(&GoingPage { words, server: begun.issuer, to: begun.to.into() }, StatusCode::OK);
    let kept = cookies::build(CONNECTOR, begun.token.reveal(), LIFE, api.account.is_secure(&headers));
    response.headers_mut().extend(kept.map(|header| (SET_COOKIE, header)));
    Ok(response)
}
