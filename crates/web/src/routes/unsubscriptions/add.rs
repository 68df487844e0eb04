//! `POST /unsubscribe/{token}`: only answers go to an address from now on. Mail programs send it by themselves (RFC 8058): without a
//! cookie, a page of ours before it, or anybody signed in. The link is the proof.

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use munshi_conversations::outbox::opt_outs;
use munshi_server::error::ApiError;
use munshi_server::options::Peer;
use munshi_server::page_error::HtmlPageError;
use munshi_store::Tx;

use super::show::{UnsubscribeStep, find_wish, render_page};
use crate::app::App;

pub(crate) async fn add_unsubscription(
    State(app): State<App>,
    Path(token): Path<String>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let wish = find_wish(api, &token, (peer.as_deref(), &headers)).await?;
    let (ids, now) = (api.ids.clone(), api.clock.now());
    let unit = move |tx: &mut Tx<'_>| opt_outs::unsubscribe(tx, &wish, &ids, now);
    api.db.write(wish.tenant, unit).await.map_err(ApiError::from)?;
    Ok(render_page(&headers, &token, UnsubscribeStep::Done))
}
