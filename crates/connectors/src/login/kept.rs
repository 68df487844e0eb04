//! A login as the vault keeps it.

use std::time::Duration;

use munshi_safety::audit::{Actor, ActorKind, Event, NewEntry};
use munshi_safety::vault::{self, By, Secret, SecretRef};
use munshi_safety::{Error as SafetyError, audit};
use munshi_store::Tx;
use munshi_types::{TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use zeroize::Zeroizing;

use super::Logins;
use super::client::Client;
use super::fetch::Answered;
use super::rows;
use crate::error::{Error, Result};

/// Whoever says nothing of how long it is good is asked again after this.
const LONGEST: u64 = 365 * 24 * 3600;

/// What opens the door, and what renews it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) client: Client,
    /// Where it is renewed.
    pub(super) token: String,
    pub(super) resource: String,
    /// What was asked for and granted.
    #[serde(default)]
    pub(super) scope: Option<String>,
    #[serde(with = "super::hidden")]
    pub(super) access: Zeroizing<String>,
    #[serde(default, with = "super::hidden::maybe")]
    pub(super) refresh: Option<Zeroizing<String>>,
    #[serde(default)]
    pub(super) expires_at: Option<Timestamp>,
}

impl Kept {
    /// Takes over what a token endpoint answered. What it does not say stays as it was.
    pub(super) fn take(&mut self, answered: &Answered, now: Timestamp) -> Result<()> {
        let odd = |what: &str| Error::NoLogin(format!("{} answered {what}", self.client.issuer));
        let access = answered.text("access_token").filter(|token| is_sendable(token));
        let access = access.ok_or_else(|| odd("without a token that can be sent"))?.to_owned();
        let kind = answered.text("token_type").unwrap_or("bearer");
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err(odd("with a token of another kind"));
        }
        if let Some(refresh) = answered.text("refresh_token").filter(|token| !token.is_empty()) {
            self.refresh = Some(Zeroizing::new(refresh.to_owned()));
        }
        if let Some(scope) = answered.text("scope").filter(|scope| !scope.is_empty()) {
            self.scope = Some(scope.to_owned());
        }
        let seconds = answered
            .body
            .get("expires_in")
            .and_then(|value| value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok())));
        self.expires_at = seconds.map(|seconds| now.plus(Duration::from_secs(seconds.min(LONGEST))));
        self.access = Zeroizing::new(access);
        Ok(())
    }

    /// Whether it ends within this.
    pub(super) fn ends_within(&self, moment: Duration, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now.plus(moment))
    }
}

fn is_sendable(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Where the login of a connector is.
pub(super) fn login_of(connector: &str) -> Result<SecretRef> {
    Ok(SecretRef::named(&format!("connector/{connector}/login"))?)
}

fn client_of(connector: &str) -> Result<SecretRef> {
    Ok(SecretRef::named(&format!("connector/{connector}/client"))?)
}

/// When somebody last logged in, or the login was renewed.
pub(crate) fn last_at(tx: &mut Tx<'_>, connector: &str) -> Result<Option<Timestamp>> {
    Ok(vault::set_at(tx, &login_of(connector)?)?)
}

impl Logins {
    pub(super) async fn kept(&self, tenant: TenantId, connector: &str) -> Result<Option<Kept>> {
        self.opened(tenant, &login_of(connector)?).await
    }

    pub(super) async fn known_client(&self, tenant: TenantId, connector: &str) -> Result<Option<Client>> {
        self.opened(tenant, &client_of(connector)?).await
    }

    async fn opened<T: for<'a> Deserialize<'a>>(
        &self,
        tenant: TenantId,
        name: &SecretRef,
    ) -> Result<Option<T>> {
        let secret = match self.0.vault.open(tenant, name).await {
            Ok(secret) => secret,
            Err(SafetyError::NoSecret { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // What another version wrote and this one can't read is asked for anew.
        Ok(serde_json::from_str(secret.expose()).ok())
    }

    /// Keeps a renewed login.
    pub(super) async fn renew_kept(&self, tenant: TenantId, connector: &str, kept: &Kept) -> Result<()> {
        let actor = Actor::new(ActorKind::System, "connectors");
        self.seal(tenant, &login_of(connector)?, kept, &actor).await
    }

    pub(super) async fn keep_client(
        &self,
        tenant: TenantId,
        connector: &str,
        client: &Client,
        by: &Actor,
    ) -> Result<()> {
        self.seal(tenant, &client_of(connector)?, client, by).await
    }

    /// Keeps a new login, closes the links that led to it, and tells the audit who logged in where.
    pub(super) async fn keep(
        &self,
        tenant: TenantId,
        connector: &str,
        kept: &Kept,
        by: &Actor,
    ) -> Result<()> {
        self.seal(tenant, &login_of(connector)?, kept, by).await?;
        let (now, ids) = (self.0.clock.now(), self.0.ids.clone());
        let entry = NewEntry {
            actor: by.clone(),
            event: Event::CONNECTOR_LOGGED_IN,
            subject: connector.to_owned(),
            payload: json!({ "at": kept.client.issuer, "scope": kept.scope, "lasts": kept.refresh.is_some() }),
        };
        let name = connector.to_owned();
        let told = move |tx: &mut Tx<'_>| -> Result<()> {
            rows::close_links(tx, &name, now)?;
            audit::append(tx, &entry, now, &ids)?;
            Ok(())
        };
        self.0.db.write(tenant, told).await
    }

    async fn seal(
        &self,
        tenant: TenantId,
        name: &SecretRef,
        value: &impl Serialize,
        by: &Actor,
    ) -> Result<()> {
        let text = serde_json::to_string(value).map_err(|error| Error::Invalid(error.to_string()))?;
        let by = By { actor: by.clone(), now: self.0.clock.now() };
        self.0.vault.set(tenant, name, Secret::new(text)?, by).await?;
        Ok(())
    }
}
