//! A login with a code that a person types elsewhere (RFC 8628): for a machine that no browser comes back to.

use std::time::Duration;

use munshi_safety::audit::AuditActor;
use munshi_types::{ConnectorName, TenantId, Timestamp};
use zeroize::Zeroizing;

use super::challenge::AuthChallenge;
use super::client::OAuthClient;
use super::discover::{self, OAuthServerMetadata};
use super::flow::{self, OAuthReturnUrls};
use super::{CompletedOAuthLogin, ConnectorLogins, LIFE};
use crate::error::{Error, Result};

pub(super) const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
const USUAL: u64 = 5;
/// So much longer one waits from then on who was told to slow down.
const SLOWER: u64 = 5;

/// A code, and where it is typed.
pub struct DeviceAuthorization {
    pub user_code: String,
    /// Where it is typed.
    pub place: String,
    /// The same with the code in it, where there is one.
    pub whole: Option<String>,
    pub expires_at: Timestamp,
    tenant: TenantId,
    connector: String,
    device_code: Zeroizing<String>,
    interval: Duration,
    found: OAuthServerMetadata,
    client: OAuthClient,
    scope: Option<String>,
    by: AuditActor,
}

impl ConnectorLogins {
    /// Whether the service lets people in by a code.
    pub async fn supports_device_code(&self, tenant: TenantId, connector: &ConnectorName) -> Result<bool> {
        let (_, url) = self.load_entry(tenant, connector.as_str()).await?;
        Ok(discover::discover(&self.0.fetch, &url, &AuthChallenge::default()).await?.device.is_some())
    }

    /// Asks for a code.
    pub async fn begin_device_login(
        &self,
        tenant: TenantId,
        connector: &ConnectorName,
        back: &OAuthReturnUrls,
        by: AuditActor,
    ) -> Result<DeviceAuthorization> {
        let name = connector.as_str();
        let (entry, url) = self.load_entry(tenant, name).await?;
        let said = AuthChallenge::default();
        let found = discover::discover(&self.0.fetch, &url, &said).await?;
        let Some(address) = &found.device else {
            return Err(Error::NoLogin(format!("{} does not support device login", found.issuer)));
        };
        let address = self.0.fetch.parse_url(address)?;
        let scope = self.resolve_scope(tenant, name, &entry, &found, &said).await?;
        let asked =
            flow::OAuthAuthorizationRequest { entry: &entry, found: &found, scope: scope.as_deref(), back };
        let client = self.resolve_client(tenant, name, &asked, &by).await?;
        let mut pairs = vec![("resource", found.resource.as_str())];
        pairs.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let login = client.add_credentials(&mut pairs);
        let answered = self.0.fetch.post_form(&address, &pairs, login.as_ref()).await?;
        drop(pairs);
        let text = |key: &str| answered.text(key).map(str::to_owned);
        let place = text("verification_uri").or_else(|| text("verification_url"));
        let (Some(device_code), Some(user_code), Some(place), true) =
            (text("device_code"), text("user_code"), place, answered.status.is_success())
        else {
            return Err(Error::NoLogin(format!(
                "{} returned no device code: {}",
                found.issuer,
                answered.error_code()
            )));
        };
        let life = Duration::from_secs(answered.seconds("expires_in").unwrap_or(LIFE.as_secs())).min(LIFE);
        let interval = Duration::from_secs(answered.seconds("interval").unwrap_or(USUAL).max(1));
        Ok(DeviceAuthorization {
            user_code: sanitize_code(&user_code),
            place: self.0.fetch.parse_url(&place)?.into(),
            whole: text("verification_uri_complete")
                .and_then(|at| self.0.fetch.parse_url(&at).ok())
                .map(String::from),
            expires_at: self.0.clock.now().plus(life),
            tenant,
            connector: name.to_owned(),
            device_code: Zeroizing::new(device_code),
            // Never more often than it says; who says more than its code lives is asked once, at the end.
            interval: interval.min(life),
            found,
            client,
            scope,
            by,
        })
    }

    /// Waits until the person has typed the code and consented.
    pub async fn finish_device_login(&self, mut code: DeviceAuthorization) -> Result<CompletedOAuthLogin> {
        loop {
            tokio::time::sleep(code.interval).await;
            if self.0.clock.now() >= code.expires_at {
                return Err(Error::NoLogin("the code expired before it was entered".to_owned()));
            }
            match self.poll_device_login(&code).await {
                Ok(()) => return Ok(CompletedOAuthLogin { tenant: code.tenant, connector: code.connector }),
                Err(Asked::NotYet) => {}
                Err(Asked::TooOften) => {
                    code.interval += Duration::from_secs(SLOWER);
                }
                Err(Asked::Failed(error)) => return Err(error),
            }
        }
    }

    async fn poll_device_login(&self, code: &DeviceAuthorization) -> Result<(), Asked> {
        let given = [("grant_type", GRANT), ("device_code", code.device_code.as_str())];
        let exchanged = self.exchange(&code.found, code.client.clone(), &given, code.scope.clone()).await;
        let kept = match exchanged {
            Ok(Ok(kept)) => kept,
            Ok(Err(no)) => {
                return Err(match no.as_str() {
                    "authorization_pending" => Asked::NotYet,
                    "slow_down" => Asked::TooOften,
                    no => Asked::Failed(Error::NoLogin(format!(
                        "{} refused the login: {no}",
                        code.found.issuer
                    ))),
                });
            }
            // A line that broke is no answer, nor is one that never ends.
            Err(Error::Unreachable(_) | Error::TooSlow(_)) => return Err(Asked::NotYet),
            Err(error) => return Err(Asked::Failed(error)),
        };
        self.store_login(code.tenant, &code.connector, &kept, (&code.by, None))
            .await
            .map_err(Asked::Failed)?;
        Ok(())
    }
}

enum Asked {
    NotYet,
    TooOften,
    Failed(Error),
}

/// As a terminal may show it.
fn sanitize_code(text: &str) -> String {
    text.chars().filter(char::is_ascii_graphic).take(40).collect()
}
