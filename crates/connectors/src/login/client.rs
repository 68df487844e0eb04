//! Who we are to the service that lets people in: as the operator says, as a document of ours says, or as it has noted us
//! down when we asked (RFC 7591).

use std::time::Duration;

use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use zeroize::Zeroizing;

use super::discover::OAuthServerMetadata;
use super::fetch::OAuthFetcher;
use crate::error::{Error, Result};

/// A login on its way and its first renewals still need it.
const SOON: Duration = Duration::from_secs(24 * 3600);

/// How a client shows who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ClientAuthMethod {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
}

impl ClientAuthMethod {
    const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::None, Self::Basic, Self::Post].into_iter().find(|method| method.as_str() == text)
    }
}

/// Ourselves at one service.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct OAuthClient {
    pub(super) issuer: String,
    pub(super) id: String,
    #[serde(default, with = "super::secret_serde::maybe")]
    pub(super) secret: Option<Zeroizing<String>>,
    pub(super) method: ClientAuthMethod,
    /// What it was noted down for; it is noted down anew for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
    /// Where people come back to, where it has noted that down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redirect: Option<String>,
    /// When its secret ends, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ends_at: Option<Timestamp>,
}

impl std::fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OAuthClient({} at {})", self.id, self.issuer)
    }
}

impl OAuthClient {
    /// One that the operator has set up there.
    pub(super) fn from_config(
        found: &OAuthServerMetadata,
        id: String,
        secret: Option<Zeroizing<String>>,
    ) -> Self {
        let method = match &secret {
            None => ClientAuthMethod::None,
            Some(_) => select_auth_method(found, &[ClientAuthMethod::Basic, ClientAuthMethod::Post])
                .unwrap_or(ClientAuthMethod::Basic),
        };
        Self { issuer: found.issuer.clone(), id, secret, method, scope: None, redirect: None, ends_at: None }
    }

    /// One that is known by the address of a document.
    pub(super) fn from_document(found: &OAuthServerMetadata, address: &str) -> Self {
        Self {
            issuer: found.issuer.clone(),
            id: address.to_owned(),
            secret: None,
            method: ClientAuthMethod::None,
            scope: None,
            redirect: None,
            ends_at: None,
        }
    }

    /// Whether it can be used there again.
    pub(super) fn is_reusable(
        &self,
        found: &OAuthServerMetadata,
        (scope, redirect): (Option<&str>, &str),
        now: Timestamp,
    ) -> bool {
        let known: Vec<&str> = self.scope.iter().flat_map(|scope| scope.split(' ')).collect();
        let covers = scope.is_none_or(|scope| scope.split(' ').all(|one| known.contains(&one)));
        let is_good = self.ends_at.is_none_or(|end| end > now.plus(SOON));
        self.issuer == found.issuer && covers && is_good && self.redirect.as_deref() == Some(redirect)
    }

    /// Has the service note us down.
    pub(super) async fn register(
        fetch: &OAuthFetcher,
        found: &OAuthServerMetadata,
        scope: Option<&str>,
        redirect: &str,
    ) -> Result<Self> {
        let Some(address) = &found.register else {
            return Err(Error::NoLogin(format!(
                "{} needs a registered client: ask its operator for a client id, and set client = {{ id = \"…\" }} \
                 with the redirect address {redirect}",
                found.issuer
            )));
        };
        let method = select_auth_method(
            found,
            &[ClientAuthMethod::None, ClientAuthMethod::Basic, ClientAuthMethod::Post],
        )
        .unwrap_or(ClientAuthMethod::None);
        let mut grants = vec!["authorization_code", "refresh_token"];
        if found.device.is_some() {
            grants.push(super::device::GRANT);
        }
        let is_here = redirect.starts_with("http://127.0.0.1") || redirect.starts_with("http://localhost");
        let mut asked = json!({
            "client_name": "Munshi", "redirect_uris": [redirect], "grant_types": grants,
            "response_types": ["code"], "token_endpoint_auth_method": method.as_str(),
            "application_type": if is_here { "native" } else { "web" },
        });
        if let Some(scope) = scope {
            asked["scope"] = json!(scope);
        }
        let answered = fetch.post_json(&fetch.parse_url(address)?, &asked).await?;
        let (true, Some(id)) = (answered.status.is_success(), answered.text("client_id")) else {
            return Err(Error::NoLogin(format!(
                "{} refused the client registration: {}",
                found.issuer,
                answered.error_code()
            )));
        };
        let secret = answered.text("client_secret").filter(|secret| !secret.is_empty());
        let noted = answered.text("token_endpoint_auth_method").and_then(ClientAuthMethod::parse);
        let method = match (noted, secret) {
            (Some(method), Some(_)) => method,
            (None, Some(_)) if method == ClientAuthMethod::None => ClientAuthMethod::Basic,
            (None, Some(_)) => method,
            (_, None) => ClientAuthMethod::None,
        };
        Ok(Self {
            issuer: found.issuer.clone(),
            id: id.to_owned(),
            secret: secret.map(|secret| Zeroizing::new(secret.to_owned())),
            method,
            scope: scope.map(str::to_owned),
            redirect: Some(redirect.to_owned()),
            ends_at: answered
                .seconds("client_secret_expires_at")
                .filter(|end| *end > 0)
                .and_then(to_timestamp),
        })
    }

    /// What is put into a form, and what stands beside it.
    pub(super) fn add_credentials<'a>(
        &'a self,
        pairs: &mut Vec<(&'a str, &'a str)>,
    ) -> Option<(String, Zeroizing<String>)> {
        match (&self.secret, self.method) {
            (Some(secret), ClientAuthMethod::Basic) => Some((self.id.clone(), secret.clone())),
            (Some(secret), ClientAuthMethod::Post) => {
                pairs.extend([("client_id", self.id.as_str()), ("client_secret", secret.as_str())]);
                None
            }
            _ => {
                pairs.push(("client_id", self.id.as_str()));
                None
            }
        }
    }
}

/// A moment that is told in seconds; one that no clock shows is none.
fn to_timestamp(seconds: u64) -> Option<Timestamp> {
    Some(Timestamp::from_micros(i64::try_from(seconds).ok()?.checked_mul(1_000_000)?))
}

/// The first of these that the service takes. One that says nothing takes the second (RFC 8414).
fn select_auth_method(found: &OAuthServerMetadata, ours: &[ClientAuthMethod]) -> Option<ClientAuthMethod> {
    match &found.methods {
        None => ours.contains(&ClientAuthMethod::Basic).then_some(ClientAuthMethod::Basic),
        Some(methods) => {
            ours.iter().copied().find(|method| methods.iter().any(|known| known == method.as_str()))
        }
    }
}
