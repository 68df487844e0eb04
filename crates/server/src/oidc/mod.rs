//! Sign-in with another service that speaks OpenID Connect: discovery, the authorization code with PKCE, and its signed
//! word of who somebody is.
//!
//! Nothing is kept here between the way there and the way back: the browser holds one random token, from which state,
//! nonce and verifier follow. So any node can finish what another began, and none of the three can be swapped.

mod provider;

use std::fmt;
use std::time::Duration;

use munshi_identity::jwt::{ClaimRequirements, JwtClaims, JwtError, UnverifiedJwt};
use munshi_identity::{Role, SecretToken};
use munshi_types::{TenantName, Timestamp};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::http_client::OutboundHttpClient;
use crate::local_path::percent_encode;
use crate::oidc::provider::OidcProvider;

/// The way there and back may take so long.
pub const LIFE: Duration = Duration::from_secs(10 * 60);
/// How far clocks may differ.
const LEEWAY: Duration = Duration::from_secs(60);

const STATE: &str = "oidc.state";
const NONCE: &str = "oidc.nonce";
const VERIFIER: &str = "oidc.verifier";

/// How the other service is spoken to, and whom it may let in.
#[derive(Clone)]
pub struct OidcSettings {
    /// As the service itself writes it.
    pub issuer: String,
    pub client_id: String,
    /// None for a client that has no secret.
    pub client_secret: Option<Zeroizing<String>>,
    /// Of which domains e-mails are let in; all where none is named.
    pub domains: Vec<String>,
    /// What somebody gets who has no account and no invitation. None sends them away.
    pub newcomers: Option<(TenantName, Role)>,
}

/// Sign-in with one service. Clones share what they know of it.
#[derive(Clone)]
pub struct OidcClient {
    settings: OidcSettings,
    outgoing: OutboundHttpClient,
    provider: OidcProvider,
}

/// Who somebody is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcIdentity {
    pub issuer: String,
    pub subject: String,
    /// Only one that the service has verified.
    pub email: Option<String>,
    pub name: Option<String>,
}

/// Why somebody does not come in this way.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OidcError {
    #[error("can't reach the sign-in service: {0}")]
    Away(String),
    /// What the browser brought back is not what it was sent away with.
    #[error("the response belongs to another sign-in attempt")]
    State,
    #[error("the sign-in service refused: {0}")]
    Refused(String),
    #[error("can't verify the sign-in service's token: {0}")]
    Distrust(#[from] JwtError),
    #[error("the e-mail's domain is not allowed, or the sign-in service has not verified the e-mail")]
    Domain,
}

#[derive(Deserialize)]
struct Answer {
    id_token: Option<String>,
    access_token: Option<String>,
    error: Option<String>,
}

/// What a code was exchanged for.
struct Exchanged {
    id_token: Zeroizing<String>,
    /// Opens what else is told of somebody.
    access_token: Option<Zeroizing<String>>,
}

impl OidcClient {
    pub fn new(settings: OidcSettings, outgoing: OutboundHttpClient) -> Self {
        let provider = OidcProvider::new(settings.issuer.clone(), outgoing.clone());
        Self { settings, outgoing, provider }
    }

    /// What people know the service by: its host.
    pub fn name(&self) -> &str {
        let rest =
            self.settings.issuer.split_once("://").map_or(self.settings.issuer.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }

    pub fn newcomers(&self) -> Option<&(TenantName, Role)> {
        self.settings.newcomers.as_ref()
    }

    /// Where to send the browser that holds the token.
    pub async fn build_authorization_url(
        &self,
        token: &SecretToken,
        back: &str,
        now: Timestamp,
    ) -> Result<String, OidcError> {
        let found = self.provider.discover(now).await.map_err(OidcError::Away)?;
        let pairs = [
            ("response_type", "code"),
            ("client_id", &self.settings.client_id),
            ("redirect_uri", back),
            ("scope", "openid email profile"),
            ("state", &token.derive(STATE)),
            ("nonce", &token.derive(NONCE)),
            ("code_challenge", &token.challenge(VERIFIER)),
            ("code_challenge_method", "S256"),
        ];
        let start = found.authorization_endpoint.as_str();
        let joint = if start.contains('?') { '&' } else { '?' };
        Ok(format!("{start}{joint}{}", encode_form(&pairs)))
    }

    /// Who came back, with this code and state in their address and this token in their browser.
    pub async fn finish(
        &self,
        token: &SecretToken,
        (code, state): (&str, &str),
        back: &str,
        now: Timestamp,
    ) -> Result<OidcIdentity, OidcError> {
        if !token.verify_derived(STATE, state) {
            return Err(OidcError::State);
        }
        let exchanged = self.exchange_code(token, code, back, now).await?;
        let mut claims = self.verify_id_token(&exchanged.id_token, now).await?;
        if !claims.nonce.as_deref().is_some_and(|nonce| token.verify_derived(NONCE, nonce)) {
            return Err(JwtError::Nonce.into());
        }
        if let (None, Some(access)) = (&claims.email, &exchanged.access_token) {
            self.add_user_info(&mut claims, access, now).await?;
        }
        self.build_identity(claims)
    }

    /// Many services put the e-mail into no signed word, but tell it to whoever has the token. It has to be of the same
    /// person.
    async fn add_user_info(
        &self,
        claims: &mut JwtClaims,
        access: &str,
        now: Timestamp,
    ) -> Result<(), OidcError> {
        let found = self.provider.discover(now).await.map_err(OidcError::Away)?;
        let Some(address) = &found.userinfo_endpoint else { return Ok(()) };
        let text = self.outgoing.get_with_bearer(address, Some(access)).await.map_err(OidcError::Away)?;
        let told: JwtClaims =
            serde_json::from_str(&text).map_err(|error| OidcError::Away(format!("{address}: {error}")))?;
        if told.sub.is_none() || told.sub != claims.sub {
            return Err(JwtError::Claims("the userinfo response is for another subject".to_owned()).into());
        }
        (claims.email, claims.email_verified) = (told.email, told.email_verified);
        claims.name = claims.name.take().or(told.name);
        Ok(())
    }

    /// The code for the service's signed word.
    async fn exchange_code(
        &self,
        token: &SecretToken,
        code: &str,
        back: &str,
        now: Timestamp,
    ) -> Result<Exchanged, OidcError> {
        let found = self.provider.discover(now).await.map_err(OidcError::Away)?;
        let verifier = Zeroizing::new(token.derive(VERIFIER));
        let mut pairs = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", back),
            ("code_verifier", &verifier),
            ("client_id", &self.settings.client_id),
        ];
        let mut login = None;
        if let Some(secret) = &self.settings.client_secret {
            if found.supports_basic_auth() {
                login = Some(encode_basic_auth(&self.settings.client_id, secret));
            } else {
                pairs.push(("client_secret", secret));
            }
        }
        let sent = self.outgoing.post(&found.token_endpoint, encode_form(&pairs), login).await;
        let (status, text) = sent.map_err(OidcError::Away)?;
        let answer: Answer = serde_json::from_str(&text)
            .map_err(|_| OidcError::Away(format!("the token endpoint answered {status} without JSON")))?;
        match (answer.id_token, answer.error) {
            (Some(word), None) if status == 200 => Ok(Exchanged {
                id_token: Zeroizing::new(word),
                access_token: answer.access_token.map(Zeroizing::new),
            }),
            (_, Some(error)) => Err(OidcError::Refused(crate::json::shorten(&error))),
            _ => Err(OidcError::Away(format!("the token endpoint answered {status} without an id_token"))),
        }
    }

    /// The word's claims, if it was signed by the service, for us, now.
    async fn verify_id_token(&self, id_token: &str, now: Timestamp) -> Result<JwtClaims, OidcError> {
        let unverified = UnverifiedJwt::read(id_token)?;
        let keys = self.provider.load_keys(unverified.kid(), now).await.map_err(OidcError::Away)?;
        let unknown = || JwtError::UnknownKey(unverified.kid().unwrap_or("without a key id").to_owned());
        let claims = unverified.verify(keys.find(unverified.kid()).ok_or_else(unknown)?)?;
        let client = self.settings.client_id.as_str();
        let expected = ClaimRequirements {
            issuer: Some(&self.settings.issuer),
            audience: client,
            leeway: LEEWAY,
            max_age: LIFE,
        };
        claims.check(&expected, now)?;
        if claims.exp.is_none() {
            return Err(JwtError::Missing("`exp`").into());
        }
        // A word for several says who asked for it.
        if (claims.aud.len() > 1 || claims.azp.is_some()) && claims.azp.as_deref() != Some(client) {
            return Err(JwtError::Audience(client.to_owned()).into());
        }
        Ok(claims)
    }

    fn build_identity(&self, claims: JwtClaims) -> Result<OidcIdentity, OidcError> {
        let subject = claims.sub.filter(|sub| !sub.is_empty() && sub.len() <= 255);
        let email = claims.email.filter(|_| claims.email_verified).map(|email| email.to_lowercase());
        let domain = email.as_deref().and_then(|email| email.rsplit_once('@')).map(|(_, domain)| domain);
        let allowed = |domain: &str| self.settings.domains.iter().any(|one| one.eq_ignore_ascii_case(domain));
        if !self.settings.domains.is_empty() && !domain.is_some_and(allowed) {
            return Err(OidcError::Domain);
        }
        Ok(OidcIdentity {
            issuer: self.settings.issuer.clone(),
            subject: subject.ok_or(JwtError::Missing("`sub`"))?,
            email,
            name: claims.name,
        })
    }
}

fn encode_form(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", percent_encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Name and password each encoded, then both together (RFC 6749, 2.3.1).
fn encode_basic_auth(name: &str, password: &str) -> String {
    use base64::Engine;
    let pair = Zeroizing::new(format!("{}:{}", percent_encode(name), percent_encode(password)));
    base64::engine::general_purpose::STANDARD.encode(pair.as_bytes())
}

impl fmt::Debug for OidcClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Oidc({})", self.name())
    }
}

#[cfg(test)]
mod tests;
