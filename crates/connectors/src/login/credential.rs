//! What opens the door for one connection: read from the vault, renewed before it ends and once after it was refused.

use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use munshi_http::{Response, StatusCode};
use munshi_mcp::BearerCredential;
use munshi_privacy::Scrubber;
use munshi_types::{TenantId, Timestamp};
use tokio::sync::Mutex;
use url::Url;
use zeroize::Zeroizing;

use super::ConnectorLogins;
use super::challenge::AuthChallenge;
use super::discover::covers;
use super::fetch::parse_challenge;
use super::renewal::{LoginRenewal, LoginRenewalOutcome, RENEWING};
use super::stored_login::StoredOAuthLogin;
use crate::error::{Error, Result};

/// It is renewed so long before its end: calls under way have that long.
const EARLY: Duration = Duration::from_secs(60);
/// So long one goes on with what one has before one looks whether there is another.
const FRESH: Duration = Duration::from_secs(5);
/// An answer may still hold one from before.
const MOST_USED: usize = 12;
const PAUSE: Duration = Duration::from_millis(200);
/// Whoever could not be asked to renew it is asked again after this: no call waits for them twice.
const AGAIN: Duration = Duration::from_secs(10);

/// One connector's login, as a connection uses it.
pub(crate) struct ConnectorCredential {
    logins: ConnectorLogins,
    tenant: TenantId,
    connector: String,
    /// What it let us into: of a connector that has moved, or is another under the same name, nothing is known.
    url: Url,
    /// Whoever renews holds it; the others wait and find what came of it.
    held: Mutex<Held>,
    /// What the service said when it last let us not in.
    said: StdMutex<AuthChallenge>,
    hidden: StdMutex<Hidden>,
}

/// Hides what was opened for the connection, and what was used of it lately.
#[derive(Default)]
struct Hidden {
    opened: Vec<Zeroizing<String>>,
    used: Vec<Zeroizing<String>>,
    scrubber: Scrubber,
}

impl Hidden {
    fn rebuild_scrubber(&mut self) {
        let few = self.used.len().saturating_sub(MOST_USED);
        self.used.drain(..few);
        self.scrubber = Scrubber::new(self.opened.iter().chain(&self.used).map(|secret| secret.as_str()));
    }
}

#[derive(Default)]
struct Held {
    /// When it was last looked whether there is another.
    looked_at: Option<Timestamp>,
    /// Since when it has been there.
    set_at: Option<Timestamp>,
    kept: Option<StoredOAuthLogin>,
    /// A renewal of this was refused: it is not tried again.
    refused: Option<Zeroizing<String>>,
    /// When a renewal last came to nothing, and why.
    failed: Option<(Timestamp, Error)>,
}

impl Held {
    /// Whether it is time to renew it: a while before its end, and not in the first half of a short life.
    fn is_due(&self, now: Timestamp) -> bool {
        let Some(kept) = &self.kept else { return false };
        let life = kept.expires_at.zip(self.set_at).map(|(end, begun)| end.since(begun));
        kept.expires_within(life.map_or(EARLY, |life| EARLY.min(life / 2)), now)
    }
}

impl ConnectorCredential {
    pub(crate) fn new(logins: ConnectorLogins, tenant: TenantId, connector: String, url: Url) -> Arc<Self> {
        Arc::new(Self {
            logins,
            tenant,
            connector,
            url,
            held: Mutex::default(),
            said: StdMutex::default(),
            hidden: StdMutex::default(),
        })
    }

    /// What to show at the door; none where nobody has logged in.
    pub(crate) async fn find_access_token(&self) -> Result<Option<Zeroizing<String>>> {
        let mut held = self.held.lock().await;
        let now = self.logins.0.clock.now();
        if held.looked_at.is_none() {
            self.reload(&mut held).await?;
        } else {
            self.reload_if_changed(&mut held, now).await;
        }
        if held.is_due(now) {
            // What can't be renewed is used to its end, and then refused.
            if let Err(error) = self.renew(&mut held).await {
                tracing::warn!(connector = %self.connector, %error, "login renewal failed");
            }
        }
        Ok(held.kept.as_ref().map(|kept| kept.access.clone()))
    }

    /// Another one than was refused: somebody may have it already, or it is renewed. None where a person has to log in.
    pub(crate) async fn replace_token(&self, refused: Option<&str>) -> Result<Option<Zeroizing<String>>> {
        let mut held = self.held.lock().await;
        let other = |held: &Held| {
            let access = held.kept.as_ref().map(|kept| kept.access.clone());
            access.filter(|access| refused != Some(access.as_str()))
        };
        if let Some(access) = other(&held) {
            return Ok(Some(access));
        }
        self.reload(&mut held).await?;
        if let Some(access) = other(&held) {
            return Ok(Some(access));
        }
        self.renew(&mut held).await?;
        let found = other(&held);
        // It let us in once, the service takes it no more, and nothing came in its place.
        if found.is_none() && refused.is_some() && held.kept.is_some() {
            self.logins.record_loss(self.tenant, &self.connector, held.set_at).await?;
        }
        Ok(found)
    }

    /// Somebody may have logged in anew, perhaps as somebody else: what we have may be good still, and is not wanted.
    async fn reload_if_changed(&self, held: &mut Held, now: Timestamp) {
        if held.looked_at.is_some_and(|at| now < at.plus(FRESH)) {
            return;
        }
        held.looked_at = Some(now);
        let looked = match self.logins.find_login_time(self.tenant, &self.connector).await {
            Ok(last) if last == held.set_at => return,
            Ok(_) => self.reload(held).await,
            Err(error) => Err(error),
        };
        if let Err(error) = looked {
            tracing::warn!(connector = %self.connector, %error, "checking for a new login failed");
        }
    }

    async fn reload(&self, held: &mut Held) -> Result<()> {
        // In this order: whatever comes in between is seen the next time.
        held.set_at = self.logins.find_login_time(self.tenant, &self.connector).await?;
        let kept = self.logins.find_login(self.tenant, &self.connector).await?;
        held.kept = kept.filter(|kept| covers(&kept.resource, &self.url));
        held.looked_at = Some(self.logins.0.clock.now());
        self.redact_login(held);
        Ok(())
    }

    /// Has it renewed, unless somebody else does: then they are waited for. Where it is refused, all stays as it was.
    async fn renew(&self, held: &mut Held) -> Result<()> {
        let mut waited = Duration::ZERO;
        loop {
            let Some(kept) = held.kept.as_ref().filter(|kept| kept.refresh.is_some()) else { return Ok(()) };
            if held.refused == kept.refresh {
                return Ok(());
            }
            let now = self.logins.0.clock.now();
            if let Some((at, error)) = held.failed.as_ref().filter(|(at, _)| now < at.plus(AGAIN)) {
                tracing::debug!(connector = %self.connector, %at, "login renewal failed recently; not retrying yet");
                return Err(error.clone());
            }
            let before = kept.access.clone();
            let renewal = LoginRenewal {
                tenant: self.tenant,
                connector: self.connector.clone(),
                access: before.clone(),
            };
            match self.logins.renew(renewal).await {
                Ok(LoginRenewalOutcome::Done) => return self.reload(held).await,
                Ok(LoginRenewalOutcome::Refused(refresh)) => {
                    held.refused = Some(refresh);
                    return Ok(());
                }
                Ok(LoginRenewalOutcome::Elsewhere) => {}
                Err(error) => {
                    held.failed = Some((self.logins.0.clock.now(), error.clone()));
                    return Err(error);
                }
            }
            tokio::time::sleep(PAUSE).await;
            waited += PAUSE;
            self.reload(held).await?;
            if held.kept.as_ref().map(|kept| &kept.access) != Some(&before) || waited > RENEWING {
                return Ok(());
            }
        }
    }

    fn redact_login(&self, held: &Held) {
        let Some(kept) = &held.kept else { return };
        let mut hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets = [Some(&kept.access), kept.refresh.as_ref(), kept.client.secret.as_ref()];
        for secret in secrets.into_iter().flatten() {
            if !hidden.used.contains(secret) {
                hidden.used.push(secret.clone());
            }
        }
        hidden.rebuild_scrubber();
    }

    /// Hides these too, which were opened for the connection beside it.
    pub(crate) fn redact_secrets(&self, opened: &[String]) {
        let mut hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        hidden.opened = opened.iter().cloned().map(Zeroizing::new).collect();
        hidden.rebuild_scrubber();
    }

    pub(crate) fn scrubber(&self) -> Scrubber {
        self.hidden.lock().unwrap_or_else(PoisonError::into_inner).scrubber.clone()
    }

    /// What the service said when it let us not in.
    pub(crate) fn record_challenge(&self, said: AuthChallenge) {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = said;
    }

    pub(crate) fn last_challenge(&self) -> AuthChallenge {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl BearerCredential for ConnectorCredential {
    async fn find_token(&self) -> Result<Option<Zeroizing<String>>, String> {
        self.find_access_token().await.map_err(|error| error.to_string())
    }

    async fn renew_token(&self, refused: Option<&str>) -> Result<Option<Zeroizing<String>>, String> {
        self.replace_token(refused).await.map_err(|error| error.to_string())
    }

    /// Nobody has logged in, no longer is, or is for less than is wanted.
    fn asks_for_login(&self, response: &Response) -> bool {
        let said = parse_challenge(response);
        if response.status() == StatusCode::FORBIDDEN && !said.needs_more_scope() {
            return false;
        }
        self.record_challenge(said);
        true
    }
}

impl std::fmt::Debug for ConnectorCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConnectorCredential({})", self.connector)
    }
}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        Self::other(error.to_string())
    }
}

#[cfg(test)]
#[path = "pass_tests.rs"]
mod tests;
