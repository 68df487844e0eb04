//! `POST /connectors/login/{token}/code`: somebody who opened a link in a browser of theirs wants to show that it was sent to
//! them. The page shows a code from now on, which they send in their conversation.

use axum::extract::{Path, State};
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_connectors::login::PROOF_LIFE;
use munshi_identity::SecretToken;

use super::show::{as_fault, led, logins, path};
use crate::account::cookies::{self, OPENED};
use crate::account::fault::HtmlPageError;
use crate::account::form::{EmptyForm, PublicForm};
use crate::account::opener::{self, ConnectorLinkRequest};
use crate::app::App;
use crate::server::Peer;

pub(crate) async fn ask_connector_code(
    State(app): State<App>,
    Path(token): Path<String>,
    posted: PublicForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let PublicForm { api, headers, extensions, .. } = posted;
    let limits = api.limits.visitor(api.client_address(extensions.get::<Peer>(), &headers))?;
    let (token, led) = led(&api, &token).await?;
    api.count_limits(led.tenant, limits.into()).await?;
    let asked =
        ConnectorLinkRequest { headers: &headers, extensions: &extensions, tenant: led.tenant, to: led.to };
    if !opener::can_be_shown(&app, &asked).await? {
        return Err(opener::not_theirs().into());
    }
    let browser = SecretToken::random(api.random.as_ref());
    logins(&api)?.show_code(&led, &browser).await.map_err(as_fault)?;
    let mut response = Redirect::to(&path(&token)).into_response();
    let kept = cookies::keep(OPENED, browser.reveal(), PROOF_LIFE, api.account.is_secure(&headers));
    response.headers_mut().extend(kept.map(|header| (SET_COOKIE, header)));
    Ok(response)
}
