//! `GET /start/local/{token}`: the link of the machine's terminal. The browser that opens it is known from then on as one
//! that somebody has in front of this machine.

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::local_path;
use munshi_server::options::Peer;
use munshi_server::page_error::HtmlPageError;
use munshi_server::visitor::installation_access::is_local_link;
use munshi_server::visitor::local_session;
use munshi_types::TenantId;
use serde::Deserialize;

use crate::app::App;

#[derive(Default, Deserialize)]
pub(crate) struct StartQuery {
    next: Option<String>,
}

pub(crate) async fn redeem_local_link(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    Path(token): Path<String>,
    query: Result<Query<StartQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let peer = peer.map(|Extension(peer)| peer);
    if !is_local_link(api, (peer.as_ref(), &headers), &token).await? {
        let words = "This link has expired, or was not opened on the server's own machine.";
        let hint = "Restart `munshi serve` and open the link it prints in a browser on the same machine, not through a proxy.";
        return Err(ApiError::new(ApiErrorCode::Forbidden, words).phrase("link-used").hint(hint).into());
    }
    let next = query.ok().and_then(|Query(query)| query.next);
    let mut response =
        Redirect::to(local_path::sanitize(Some(next.as_deref().unwrap_or("/")))).into_response();
    let key = api.codes.load_key(TenantId::PLATFORM).await.map_err(ApiError::from)?;
    response
        .headers_mut()
        .extend(local_session::build_cookie(&key, api.clock.now()).map(|cookie| (SET_COOKIE, cookie)));
    Ok(response)
}
