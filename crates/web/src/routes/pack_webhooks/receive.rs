//! `POST /hooks/{tenant}/{pack}/{name}`: what others send a pack. Stored before it is answered.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use munshi_pack::WebhookVerdict;
use munshi_pack::delivery::{DeliveryOrigin, DeliveryQueue, LARGEST_DELIVERY, NewDelivery};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::options::Peer;
use munshi_store::Tx;

use super::admit::{HookAddress, WebhookAdmission, WebhookOutcome, answer_text};
use crate::app::App;

pub(crate) async fn receive_webhook(
    State(app): State<App>,
    Path((tenant, pack, name)): Path<(String, String, String)>,
    uri: Uri,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let body = body.map_err(|rejection| match rejection.status() {
        axum::http::StatusCode::PAYLOAD_TOO_LARGE => ApiError::from_code(ApiErrorCode::TooLarge),
        _ => ApiError::from_code(ApiErrorCode::BadRequest).caused_by(rejection),
    })?;
    if body.len() > LARGEST_DELIVERY {
        return Err(ApiError::from_code(ApiErrorCode::TooLarge));
    }
    let address = HookAddress { tenant, pack, name };
    let admission = WebhookAdmission::find(app.api()?, &address, (&uri, &headers), peer.as_deref()).await?;
    let request = admission.build_request(body.to_vec());
    let verdict = admission.settle(admission.webhook.what.verify(&request).await)?;
    let outcome = match verdict {
        WebhookVerdict::Answer(text) => {
            admission.count(WebhookOutcome::Answered);
            return answer_text(text);
        }
        WebhookVerdict::Ignore => WebhookOutcome::Ignored,
        WebhookVerdict::Take { sender_id } => store(&admission, sender_id, &headers, body).await?,
    };
    admission.count(outcome);
    answer_text("ok".to_owned())
}

fn to_api_error(error: munshi_jobs::Error) -> ApiError {
    match error {
        munshi_jobs::Error::Store(error) => error.into(),
        other => ApiError::internal(other),
    }
}

async fn store(
    admission: &WebhookAdmission,
    sender_id: Option<String>,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<WebhookOutcome, ApiError> {
    let (api, of) = (&admission.api, &admission.webhook);
    let (pack, name, source) = (of.pack, of.what.name(), of.what.source());
    let kept = of.what.kept_headers().iter();
    let kept: Vec<(String, String)> = kept
        .filter_map(|name| {
            // One that is there twice could be read in two ways: the pack does not see it when it verifies either.
            let mut found = headers.get_all(*name).iter();
            let value = found.next().filter(|_| found.next().is_none())?.to_str().ok()?;
            Some(((*name).to_owned(), value.to_owned()))
        })
        .collect();
    let deliveries = DeliveryQueue { queue: api.engine.run_starter().queue, ids: api.ids.clone() };
    let now = api.clock.now();
    let unit = move |tx: &mut Tx<'_>| {
        let sender_id = sender_id.as_deref();
        let origin = DeliveryOrigin::Webhook;
        let new = NewDelivery { pack, source, origin, name, sender_id, headers: &kept, body: &body };
        deliveries.store(tx, &new, now)
    };
    Ok(match api.db.write(admission.tenant.id, unit).await.map_err(to_api_error)? {
        munshi_pack::delivery::DeliveryOutcome::Stored(_) => WebhookOutcome::Stored,
        munshi_pack::delivery::DeliveryOutcome::Known => WebhookOutcome::Known,
    })
}
