//! `GET /hooks/{tenant}/{pack}/{name}`: a sender that looks whether somebody is there.

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use munshi_server::error::ApiError;
use munshi_server::options::Peer;

use super::admit::{HookAddress, WebhookAdmission, WebhookOutcome, answer_text};
use crate::app::App;

pub(crate) async fn probe_webhook(
    State(app): State<App>,
    Path((tenant, pack, name)): Path<(String, String, String)>,
    uri: Uri,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let address = HookAddress { tenant, pack, name };
    let admission = WebhookAdmission::find(app.api()?, &address, (&uri, &headers), peer.as_deref()).await?;
    let request = admission.build_request(Vec::new());
    let text = admission.settle(admission.webhook.what.answer_probe(&request).await)?;
    admission.count(WebhookOutcome::Answered);
    answer_text(text)
}
