//! A login as the vault keeps it.

use std::time::Duration;

use munshi_safety::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_safety::vault::{self, SecretRef, VaultAuditContext, VaultSecret};
use munshi_safety::{Error as SafetyError, audit};
use munshi_store::{PlatformTx, Tx};
use munshi_types::{TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use zeroize::Zeroizing;

use super::ConnectorLogins;
use super::client::OAuthClient;
use super::fetch::OAuthFormResponse;
use super::flow::LONGEST_SCOPE;
use super::{losses, rows};
use crate::error::{Error, Result};

/// Whoever says nothing of how long it is good is asked again after this.
const LONGEST: u64 = 365 * 24 * 3600;

/// What opens the door, and what renews it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredOAuthLogin {
    pub(super) client: OAuthClient,
    /// Where it is renewed.
    pub(super) token: String,
    /// Where it is given back, if anywhere.
    #[serde(default)]
    pub(super) revoke: Option<String>,
    pub(super) resource: String,
    /// What was asked for and granted.
    #[serde(default)]
    pub(super) scope: Option<String>,
    #[serde(with = "super::secret_serde")]
    pub(super) access: Zeroizing<String>,
    #[serde(default, with = "super::secret_serde::maybe")]
    pub(super) refresh: Option<Zeroizing<String>>,
    #[serde(default)]
    pub(super) expires_at: Option<Timestamp>,
}

impl StoredOAuthLogin {
    /// Takes over what a token endpoint answered. What it does not say stays as it was.
    pub(super) fn apply_response(&mut self, answered: &OAuthFormResponse, now: Timestamp) -> Result<()> {
        let odd = |what: &str| Error::NoLogin(format!("{} answered {what}", self.client.issuer));
        let access = answered.text("access_token").filter(|token| is_sendable(token));
        let access = access.ok_or_else(|| odd("without a usable token"))?.to_owned();
        let kind = answered.text("token_type").unwrap_or("bearer");
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err(odd("with a token that is not a bearer token"));
        }
        if let Some(refresh) = answered.text("refresh_token").filter(|token| fits(token, LONGEST_TOKEN)) {
            self.refresh = Some(Zeroizing::new(refresh.to_owned()));
        }
        if let Some(scope) = answered.text("scope").filter(|scope| fits(scope, LONGEST_SCOPE)) {
            self.scope = Some(scope.to_owned());
        }
        let seconds = answered.seconds("expires_in");
        self.expires_at = seconds.map(|seconds| now.plus(Duration::from_secs(seconds.min(LONGEST))));
        self.access = Zeroizing::new(access);
        Ok(())
    }

    /// Whether it ends within this.
    pub(super) fn expires_within(&self, moment: Duration, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now.plus(moment))
    }
}

/// Longer ones don't fit into a request's head, and the vault keeps no documents.
const LONGEST_TOKEN: usize = 16 * 1024;

fn is_sendable(token: &str) -> bool {
    fits(token, LONGEST_TOKEN) && token.bytes().all(|byte| byte.is_ascii_graphic())
}

fn fits(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len())
}

/// Where the login of a connector is.
pub(super) fn build_login_ref(connector: &str) -> Result<SecretRef> {
    Ok(SecretRef::from_name(&format!("connector/{connector}/login"))?)
}

fn build_client_ref(connector: &str) -> Result<SecretRef> {
    Ok(SecretRef::from_name(&format!("connector/{connector}/client"))?)
}

/// Forgets what lets us into a connector that was taken away, and every way to it.
pub(crate) fn delete_credentials(tx: &mut Tx<'_>, connector: &str) -> Result<()> {
    vault::remove(tx, &build_login_ref(connector)?)?;
    vault::remove(tx, &build_client_ref(connector)?)?;
    rows::delete_by_connector(tx, connector)
}

/// Forgets what lets us into a connector that stays, and every way to it. False where nobody has logged in.
pub fn forget_login(tx: &mut Tx<'_>, connector: &str) -> Result<bool> {
    let was_there = vault::remove(tx, &build_login_ref(connector)?)?;
    rows::delete_by_connector(tx, connector)?;
    Ok(was_there)
}

/// When somebody last logged in, or the login was renewed.
pub fn find_login_time(tx: &mut Tx<'_>, connector: &str) -> Result<Option<Timestamp>> {
    Ok(vault::find_set_at(tx, &build_login_ref(connector)?)?)
}

impl ConnectorLogins {
    pub(super) async fn find_login(
        &self,
        tenant: TenantId,
        connector: &str,
    ) -> Result<Option<StoredOAuthLogin>> {
        Ok(self.find_login_with_secret(tenant, connector).await?.map(|(kept, _)| kept))
    }

    /// With the secret that it was read from: whoever changes it says what they know.
    pub(super) async fn find_login_with_secret(
        &self,
        tenant: TenantId,
        connector: &str,
    ) -> Result<Option<(StoredOAuthLogin, VaultSecret)>> {
        self.find_secret(tenant, &build_login_ref(connector)?).await
    }

    pub(super) async fn find_client(&self, tenant: TenantId, connector: &str) -> Result<Option<OAuthClient>> {
        Ok(self.find_secret(tenant, &build_client_ref(connector)?).await?.map(|(client, _)| client))
    }

    async fn find_secret<T: for<'a> Deserialize<'a>>(
        &self,
        tenant: TenantId,
        name: &SecretRef,
    ) -> Result<Option<(T, VaultSecret)>> {
        let secret = match self.0.vault.open(tenant, name).await {
            Ok(secret) => secret,
            Err(SafetyError::NoSecret { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // What another version wrote and this one can't read is asked for anew.
        let read: Option<T> = serde_json::from_str(secret.expose()).ok();
        Ok(read.map(|read| (read, secret)))
    }

    /// Keeps a renewed login in place of the one it was made of. False where another has come since, or it was given up.
    pub(super) async fn replace_login(
        &self,
        tenant: TenantId,
        connector: &str,
        (known, kept): (VaultSecret, &StoredOAuthLogin),
    ) -> Result<bool> {
        let by = VaultAuditContext {
            actor: AuditActor::new(AuditActorKind::System, "connectors"),
            now: self.0.clock.now(),
        };
        let (name, secret) = (build_login_ref(connector)?, to_secret(kept)?);
        Ok(self.0.vault.replace_if_unchanged(tenant, &name, known, secret, by).await?)
    }

    pub(super) async fn store_client(
        &self,
        tenant: TenantId,
        connector: &str,
        client: &OAuthClient,
        by: &AuditActor,
    ) -> Result<()> {
        let by = VaultAuditContext { actor: by.clone(), now: self.0.clock.now() };
        self.0.vault.set(tenant, &build_client_ref(connector)?, to_secret(client)?, by).await?;
        Ok(())
    }

    /// Where the service no longer knows who we are, we are noted down anew the next time.
    pub(super) async fn remove_rejected_client(
        &self,
        tenant: TenantId,
        connector: &str,
        no: &str,
    ) -> Result<()> {
        if !matches!(no, "invalid_client" | "unauthorized_client") {
            return Ok(());
        }
        let by = VaultAuditContext {
            actor: AuditActor::new(AuditActorKind::System, "connectors"),
            now: self.0.clock.now(),
        };
        self.0.vault.remove(tenant, &build_client_ref(connector)?, by).await?;
        Ok(())
    }

    /// Keeps a new login, uses up the link it was begun with, closes the others, and tells the audit who logged in where:
    /// all of it, or nothing. False where the link has led to another login meanwhile.
    pub(super) async fn store_login(
        &self,
        tenant: TenantId,
        connector: &str,
        kept: &StoredOAuthLogin,
        (by, link): (&AuditActor, Option<Vec<u8>>),
    ) -> Result<bool> {
        let (now, ids, vault) = (self.0.clock.now(), self.0.ids.clone(), self.0.vault.clone());
        let entry = NewAuditEntry {
            actor: by.clone(),
            event: AuditEvent::CONNECTOR_LOGGED_IN,
            subject: connector.to_owned(),
            payload: json!({ "at": kept.client.issuer, "scope": kept.scope, "lasts": kept.refresh.is_some() }),
        };
        let (name, secret) = (build_login_ref(connector)?, to_secret(kept)?);
        let (connector, by) = (connector.to_owned(), VaultAuditContext { actor: by.clone(), now });
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<bool> {
            let is_first = tx.as_tenant(tenant, |tx| -> Result<bool> {
                let is_first = rows::redeem_link(tx, link.as_deref(), now)?;
                if is_first {
                    rows::close_links(tx, &connector, now)?;
                    losses::clear(tx, &connector)?;
                }
                Ok(is_first)
            })?;
            if !is_first {
                return Ok(false);
            }
            vault.set_in(tx, tenant, &name, &secret, &by)?;
            tx.as_tenant(tenant, |tx| -> Result<bool> {
                audit::append(tx, &entry, now, &ids)?;
                Ok(true)
            })
        };
        self.0.db.platform(vault::VAULT).write(unit).await
    }
}

fn to_secret(value: &impl Serialize) -> Result<VaultSecret> {
    let text = serde_json::to_string(value).map_err(|error| Error::Invalid(error.to_string()))?;
    VaultSecret::new(text).map_err(|error| Error::Invalid(error.to_string()))
}
