//! What a service publishes of itself: where its doors are, and its keys.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use munshi_identity::jwt::JwkSet;
use munshi_types::Timestamp;
use serde::Deserialize;

use crate::http_client::OutboundHttpClient;

/// It is asked again after so long.
const FRESH: Duration = Duration::from_secs(60 * 60);
/// For a key that is not among its keys, no more often than this.
const AGAIN: Duration = Duration::from_secs(30);

/// What is known of a service; clones share it.
#[derive(Clone)]
pub(super) struct OidcProvider {
    issuer: String,
    outgoing: OutboundHttpClient,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    found: Option<(Arc<OidcDiscovery>, Timestamp)>,
    keys: Option<(Arc<JwkSet>, Timestamp)>,
}

/// The parts of a discovery document that are needed.
#[derive(Debug, Deserialize)]
pub(super) struct OidcDiscovery {
    issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    /// Where more is told of somebody than the signed word says.
    pub userinfo_endpoint: Option<String>,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

impl OidcDiscovery {
    /// How a client shows who it is, unless the service takes the other way alone.
    pub(super) fn supports_basic_auth(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_ref();
        methods.is_none_or(|methods| methods.iter().any(|method| method == "client_secret_basic"))
    }
}

impl OidcProvider {
    pub(super) fn new(issuer: String, outgoing: OutboundHttpClient) -> Self {
        Self { issuer, outgoing, known: Arc::default() }
    }

    pub(super) async fn discover(&self, now: Timestamp) -> Result<Arc<OidcDiscovery>, String> {
        if let Some((found, read_at)) = &self.lock().found
            && now >= *read_at
            && now.since(*read_at) < FRESH
        {
            return Ok(found.clone());
        }
        let address = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let text = self.outgoing.get(&address).await?;
        let found: OidcDiscovery =
            serde_json::from_str(&text).map_err(|error| format!("can't read {address}: {error}"))?;
        if found.issuer != self.issuer {
            return Err(format!(
                "issuer mismatch at {address}: found `{}`, expected `{}`",
                found.issuer, self.issuer
            ));
        }
        if !is_http_url(&found.authorization_endpoint) {
            return Err(format!(
                "{address} has an unsafe authorization endpoint: `{}`",
                found.authorization_endpoint
            ));
        }
        let found = Arc::new(found);
        self.lock().found = Some((found.clone(), now));
        Ok(found)
    }

    /// Its keys as they were read lately; where the one that is wanted is not among them, as they are now.
    pub(super) async fn load_keys(&self, kid: Option<&str>, now: Timestamp) -> Result<Arc<JwkSet>, String> {
        let known = self.lock().keys.clone();
        if let Some((keys, read_at)) = known {
            let age = if now >= read_at { now.since(read_at) } else { FRESH };
            let has = keys.find(kid).is_some();
            if (has && age < FRESH) || (!has && age < AGAIN) {
                return Ok(keys);
            }
        }
        let address = self.discover(now).await?.jwks_uri.clone();
        let text = self.outgoing.get(&address).await?;
        let keys =
            Arc::new(JwkSet::parse(&text).ok_or_else(|| format!("{address} publishes no signing keys"))?);
        self.lock().keys = Some((keys.clone(), now));
        Ok(keys)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somewhere a browser may be sent to: never a script.
fn is_http_url(text: &str) -> bool {
    let graphic = text.bytes().all(|byte| byte.is_ascii_graphic());
    graphic && (text.starts_with("https://") || text.starts_with("http://"))
}
