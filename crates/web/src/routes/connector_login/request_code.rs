//! `POST /connectors/login/{token}/code`: somebody who opened a link in a browser of theirs wants to show that it was sent to
//! them. The page shows a code from now on, which they send in their conversation.

use axum::extract::{Path, State};
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_connectors::login::PROOF_LIFE;
use munshi_identity::SecretToken;
use munshi_server::account::form::{EmptyForm, PublicForm};
use munshi_server::cookies::{self, OPENED};
use munshi_server::options::Peer;
use munshi_server::page_error::HtmlPageError;

use super::show::{get_logins, load_link, login_path, to_page_error};
use crate::account::connector_authorizer::{self, ConnectorLinkRequest};
use crate::app::App;

pub(crate) async fn request_connector_code(
    State(app): State<App>,
    Path(token): Path<String>,
    posted: PublicForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let PublicForm { headers, extensions, .. } = posted;
    let api = app.api()?;
    let limits = api.limits.check_visitor(api.client_address(extensions.get::<Peer>(), &headers))?;
    let (token, led) = load_link(api, &token).await?;
    api.count_limits(led.tenant, limits.into()).await?;
    let asked =
        ConnectorLinkRequest { headers: &headers, extensions: &extensions, tenant: led.tenant, to: led.to };
    if !connector_authorizer::can_prove_in_chat(&app, &asked).await? {
        return Err(connector_authorizer::forbidden_error().into());
    }
    let browser = SecretToken::random(api.random.as_ref());
    get_logins(api)?.issue_code(&led, &browser).await.map_err(to_page_error)?;
    let mut response = Redirect::to(&login_path(&token)).into_response();
    let kept = cookies::build(OPENED, browser.reveal(), PROOF_LIFE, api.account.is_secure(&headers));
    response.headers_mut().extend(kept.map(|header| (SET_COOKIE, header)));
    Ok(response)
}
