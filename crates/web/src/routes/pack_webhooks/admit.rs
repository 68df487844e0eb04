//! Which webhook is meant, and what a sender hears that may not know.

use std::net::IpAddr;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::{IntoResponse, Response};
use metrics::counter;
use munshi_pack::{Foreign, FromPack, PackWebhook, WebhookRejection, WebhookRequest, load_tenant_packs};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::options::Peer;
use munshi_store::{PlatformTx, tenants};
use munshi_types::{Tenant, TenantId, TenantName, TenantStatus};

use crate::app::api::Api;

/// An answer to a sender's question is no longer than this.
const LONGEST_ANSWER: usize = 4096;

/// An address as it was asked for.
pub(super) struct HookAddress {
    pub(super) tenant: String,
    pub(super) pack: String,
    pub(super) name: String,
}

/// A webhook that is there, of a tenant that is there. The sender has proved nothing yet.
pub(super) struct WebhookAdmission {
    pub(super) api: Api,
    pub(super) tenant: Tenant,
    pub(super) webhook: FromPack<dyn PackWebhook>,
    url: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    sender: SenderAddress,
}

/// Where a request comes from, by what it is limited.
#[derive(Clone, Copy)]
struct SenderAddress {
    address: Option<IpAddr>,
    /// None where a crowd stands behind it, of whom none is kept out for what another did.
    alone: Option<IpAddr>,
}

/// What came of a request, for the count.
#[derive(Clone, Copy)]
pub(super) enum WebhookOutcome {
    Stored,
    Known,
    Answered,
    Ignored,
    Unverified,
    Limited,
    Failed,
}

impl WebhookOutcome {
    const fn label(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Known => "known",
            Self::Answered => "answered",
            Self::Ignored => "ignored",
            Self::Unverified => "unverified",
            Self::Limited => "limited",
            Self::Failed => "failed",
        }
    }
}

impl WebhookAdmission {
    /// A tenant or a webhook that is not there is told from one that does not know the sender by nobody.
    pub(super) async fn find(
        api: &Api,
        address: &HookAddress,
        (uri, headers): (&Uri, &HeaderMap),
        peer: Option<&Peer>,
    ) -> Result<Self, ApiError> {
        let sender = SenderAddress {
            address: api.client_address(peer, headers),
            alone: api.throttle_address(peer, headers),
        };
        // Before anything is looked up, opened or verified.
        api.limits.check_unverified(sender.alone).inspect_err(|_| count("", "", WebhookOutcome::Limited))?;
        let webhook = api.visitor_services.packs.find_webhook(&address.pack, &address.name).cloned();
        let tenant = find_tenant(api, &address.tenant).await?;
        let (Some(webhook), Some(tenant)) = (webhook, tenant) else {
            count("", "", WebhookOutcome::Unverified);
            return Err(refuse_sender(api, sender));
        };
        if !api.db.read(tenant.id, load_tenant_packs).await?.has(webhook.pack) {
            count("", "", WebhookOutcome::Unverified);
            return Err(refuse_sender(api, sender));
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let query = serde_urlencoded::from_str(uri.query().unwrap_or_default()).unwrap_or_default();
        Ok(Self {
            api: api.clone(),
            tenant,
            webhook,
            url: api.build_url(headers, path),
            query,
            headers: headers.clone(),
            sender,
        })
    }

    pub(super) fn build_request(&self, body: Vec<u8>) -> WebhookRequest {
        let headers =
            self.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
        WebhookRequest {
            tenant: self.tenant.clone(),
            url: self.url.clone(),
            headers: headers.collect(),
            query: self.query.clone(),
            body: Foreign::new(body),
            now: self.api.clock.now(),
            services: self.api.visitor_services.pack_services.for_call(&self.tenant),
        }
    }

    /// What the pack said of a request, where the sender may go on.
    pub(super) fn settle<T>(&self, said: Result<T, WebhookRejection>) -> Result<T, ApiError> {
        let (pack, webhook) = (self.webhook.pack, self.webhook.what.name());
        match said {
            Ok(_) if self.tenant.status != TenantStatus::Active => {
                self.count(WebhookOutcome::Failed);
                Err(away_error())
            }
            Ok(verified) => {
                self.api.limits.check_webhook(self.tenant.id, pack, webhook).inspect_err(|_| {
                    self.count(WebhookOutcome::Limited);
                })?;
                Ok(verified)
            }
            Err(WebhookRejection::Unverified(why)) => {
                tracing::info!(tenant = %self.tenant.name, pack, webhook, why, "webhook delivery not verified");
                self.count(WebhookOutcome::Unverified);
                Err(refuse_sender(&self.api, self.sender))
            }
            Err(WebhookRejection::Failed(why)) => {
                tracing::warn!(tenant = %self.tenant.name, pack, webhook, why, "webhook delivery can't be verified now");
                self.count(WebhookOutcome::Failed);
                Err(away_error())
            }
        }
    }

    pub(super) fn count(&self, outcome: WebhookOutcome) {
        count(self.webhook.pack, self.webhook.what.name(), outcome);
    }
}

fn count(pack: &'static str, webhook: &'static str, outcome: WebhookOutcome) {
    let outcome = outcome.label();
    counter!("munshi_pack_webhooks_total", "pack" => pack, "webhook" => webhook, "outcome" => outcome)
        .increment(1);
}

/// By its name or its id. One that is archived is not there; a paused one takes nothing now.
async fn find_tenant(api: &Api, text: &str) -> Result<Option<Tenant>, ApiError> {
    let (id, name) = (text.parse::<TenantId>(), text.parse::<TenantName>());
    let read = move |tx: &mut PlatformTx<'_>| match (id, name) {
        (Ok(id), _) => tenants::find(tx, id),
        (Err(_), Ok(name)) => tenants::find_by_name(tx, &name),
        (Err(_), Err(_)) => Ok(None),
    };
    let found = api.db.platform(tenants::TENANTS).read(read).await?;
    Ok(found.filter(|tenant| tenant.status != TenantStatus::Archived))
}

/// The same words whatever is missing, and a limit for whoever goes on trying.
fn refuse_sender(api: &Api, sender: SenderAddress) -> ApiError {
    api.limits.count_unverified(sender.alone);
    match api.limits.check_unauthenticated(sender.address) {
        Err(limited) => limited,
        Ok(()) => ApiError::new(ApiErrorCode::Unauthenticated, "This delivery could not be verified.")
            .hint("Check the address and the secret that the sender signs with."),
    }
}

fn away_error() -> ApiError {
    ApiError::new(ApiErrorCode::Unavailable, "This can't be taken now.").hint("Send it again later.")
}

/// Plain text, whatever stands in it.
pub(super) fn answer_text(text: String) -> Result<Response, ApiError> {
    if text.len() > LONGEST_ANSWER {
        return Err(ApiError::internal(format!("a webhook's answer has {} bytes", text.len())));
    }
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, text).into_response())
}
