//! `GET /unsubscribe/{token}`: where the link of a mail leads. Looking changes nothing: programs follow links before people do.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use munshi_conversations::outbox::opt_outs::{UnsubscribeToken, UnsubscribeWish};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::html_page::render_uncached;
use munshi_server::options::Peer;
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;
use munshi_store::{PlatformTx, tenants};
use munshi_types::TenantStatus;

use crate::app::App;
use crate::app::api::ApiState;

#[derive(Template)]
#[template(path = "account/unsubscribe.html")]
struct UnsubscribePage {
    words: PagePhrases,
    path: String,
    is_done: bool,
}

/// Whether it is asked or done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnsubscribeStep {
    Ask,
    Done,
}

pub(crate) async fn show_unsubscription(
    State(app): State<App>,
    Path(token): Path<String>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Response, HtmlPageError> {
    find_wish(app.api()?, &token, (peer.as_deref(), &headers)).await?;
    Ok(render_page(&headers, &token, UnsubscribeStep::Ask))
}

pub(super) fn render_page(headers: &HeaderMap, token: &str, step: UnsubscribeStep) -> Response {
    let page = UnsubscribePage {
        words: PagePhrases::from_headers(headers),
        path: format!("/unsubscribe/{token}"),
        is_done: step == UnsubscribeStep::Done,
    };
    render_uncached(&page, StatusCode::OK)
}

/// What a link asks for, if it is one of ours. Whoever tries out many is kept out for a while.
pub(super) async fn find_wish(
    api: &ApiState,
    text: &str,
    (peer, headers): (Option<&Peer>, &HeaderMap),
) -> Result<UnsubscribeWish, ApiError> {
    let sender = api.throttle_address(peer, headers);
    api.limits.check_unverified(sender)?;
    let unknown = || {
        api.limits.count_unverified(sender);
        ApiError::from_code(ApiErrorCode::NotFound)
    };
    let token = UnsubscribeToken::parse(text).ok_or_else(unknown)?;
    let tenant = token.tenant();
    let read = move |tx: &mut PlatformTx<'_>| tenants::find(tx, tenant);
    let found = api.db.platform(tenants::TENANTS).read(read).await?;
    found.filter(|found| found.status != TenantStatus::Archived).ok_or_else(unknown)?;
    let key = api.codes.load_key(tenant).await?;
    token.verify(&key).ok_or_else(unknown)
}
