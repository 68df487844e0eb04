//! `/channels/{tenant}/{account}`: what the provider of a tenant's channel tells. Stored before it is answered.

use std::net::IpAddr;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use metrics::counter;
use munshi_channels::accounts::ChannelAccountName;
use munshi_channels::incoming::{
    ChannelAnswer, ChannelIntake, ChannelRequest, ChannelRequestMethod, IntakeOutcome,
};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::options::Peer;
use munshi_store::{PlatformTx, tenants};
use munshi_types::{Tenant, TenantName, TenantStatus};

use crate::app::App;
use crate::app::api::Api;

/// What a provider tells in one request is no larger.
const LARGEST_BODY: usize = 4 * 1024 * 1024;

pub(crate) async fn receive_channel_webhook(
    State(app): State<App>,
    Path((tenant, account)): Path<(String, String)>,
    (method, uri): (Method, Uri),
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let asked = WebhookCall { tenant, account, secret: None, method, uri };
    receive(app.api()?, asked, peer.as_deref(), &headers, body).await
}

/// The same for providers that sign nothing: a word in the path that only they and we know.
pub(crate) async fn receive_secret_channel_webhook(
    State(app): State<App>,
    Path((tenant, account, secret)): Path<(String, String, String)>,
    (method, uri): (Method, Uri),
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let asked = WebhookCall { tenant, account, secret: Some(secret), method, uri };
    receive(app.api()?, asked, peer.as_deref(), &headers, body).await
}

/// An address as it was asked for.
struct WebhookCall {
    tenant: String,
    account: String,
    secret: Option<String>,
    method: Method,
    uri: Uri,
}

async fn receive(
    api: &Api,
    asked: WebhookCall,
    peer: Option<&Peer>,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let (address, alone) = (api.client_address(peer, headers), api.throttle_address(peer, headers));
    // Before anything is looked up, opened or verified.
    api.limits.check_unverified(alone).inspect_err(|_| count("limited"))?;
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::from_code(ApiErrorCode::TooLarge),
        _ => ApiError::from_code(ApiErrorCode::BadRequest).caused_by(rejection),
    })?;
    if body.len() > LARGEST_BODY {
        return Err(ApiError::from_code(ApiErrorCode::TooLarge));
    }
    let refuse = |why: &str| {
        tracing::info!(why, "a channel's webhook was not verified");
        count("unverified");
        refuse_sender(api, (address, alone))
    };
    let (Some(intake), Ok(account)) = (&api.intake, asked.account.parse::<ChannelAccountName>()) else {
        return Err(refuse("there is no such channel"));
    };
    let Some(tenant) = find_tenant(api, &asked.tenant).await? else {
        return Err(refuse("there is no such tenant"));
    };
    let request = build_request(api, intake, &asked, headers, &body);
    let taken = intake.take_answered(tenant.id, &account, &request).await;
    let (outcome, taken) = taken.map_err(|error| match error {
        munshi_channels::Error::Store(error) => ApiError::from(error),
        other => ApiError::internal(other),
    })?;
    match outcome {
        IntakeOutcome::Stored(stored) => {
            count(if stored.stored > 0 { "stored" } else { "known" });
            Ok(answer(taken))
        }
        IntakeOutcome::Ignored => {
            count("ignored");
            Ok(answer(taken))
        }
        IntakeOutcome::Answered(text) => {
            count("answered");
            Ok(answer(text))
        }
        IntakeOutcome::Unverified(why) => Err(refuse(&why)),
        IntakeOutcome::Failed(why) => {
            tracing::warn!(tenant = %tenant.name, channel = %account, why, "a channel's webhook can't be taken now");
            count("failed");
            Err(ApiError::new(ApiErrorCode::Unavailable, "This can't be taken now.")
                .hint("Send it again later."))
        }
    }
}

fn build_request(
    api: &Api,
    intake: &ChannelIntake,
    asked: &WebhookCall,
    headers: &HeaderMap,
    body: &Bytes,
) -> ChannelRequest {
    let path = asked.uri.path_and_query().map_or("/", |path| path.as_str());
    let listed = headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
    ChannelRequest {
        method: if asked.method == Method::GET {
            ChannelRequestMethod::Get
        } else {
            ChannelRequestMethod::Post
        },
        url: api.build_url(headers, path),
        path_secret: asked.secret.clone(),
        headers: listed.collect(),
        query: serde_urlencoded::from_str(asked.uri.query().unwrap_or_default()).unwrap_or_default(),
        body: body.to_vec(),
        now: intake.clock.now(),
    }
}

/// By its name. One that rests is told as well: what comes waits until it is back.
async fn find_tenant(api: &Api, text: &str) -> Result<Option<Tenant>, ApiError> {
    let Ok(name) = text.parse::<TenantName>() else { return Ok(None) };
    let read = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name);
    let found = api.db.platform(tenants::TENANTS).read(read).await?;
    Ok(found.filter(|tenant| tenant.status != TenantStatus::Archived))
}

/// The same words whatever is missing, and a limit for whoever goes on trying.
fn refuse_sender(api: &Api, (address, alone): (Option<IpAddr>, Option<IpAddr>)) -> ApiError {
    api.limits.count_unverified(alone);
    match api.limits.check_unauthenticated(address) {
        Err(limited) => limited,
        Ok(()) => ApiError::new(ApiErrorCode::Unauthenticated, "This could not be verified.")
            .hint("Check the address and the secret that the provider signs with."),
    }
}

fn count(outcome: &'static str) {
    counter!("munshi_channel_webhooks_total", "outcome" => outcome).increment(1);
}

fn answer(answer: ChannelAnswer) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(answer.media_type)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, answer.text).into_response()
}
