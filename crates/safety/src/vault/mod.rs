//! A tenant's secrets, at rest and on their way to the client that needs them.
//!
//! Everything else holds a [`SecretRef`], `vault:razorpay.key`, which is safe to show. Only the client that talks to the
//! other side opens it, with [`Vault::open`] or [`Vault::open_in`], and gets a [`VaultSecret`] that can't be printed.
//!
//! The installation has one key, outside the database; it wraps a key for each tenant, and that seals the tenant's
//! secrets. So rotating the installation's key touches no secret, and destroying a tenant's key forgets them all, in
//! backups too once the installation's key has been rotated and the old one deleted.
//!
//! # Layout
//! - [`VaultSecret`], [`SecretRef`]: a value that shows nothing; its name
//! - [`Vault`]: setting, listing, opening, removing; `keys`: the tenants' own keys
//! - `rotate`: bringing in another key of the installation; `seal_context`: what a value belongs to. The cipher and the
//!   installation's key are `munshi-keys`'

mod keys;
mod rotate;
mod seal_context;
mod secret_ref;
#[cfg(test)]
mod tests;

pub use munshi_keys::{MasterKeySource, MasterKeys, VaultSecret};
pub use rotate::MasterKeyRotation;
pub use secret_ref::SecretRef;

use std::sync::Arc;

use munshi_identity::codes::CodeKey;
use munshi_keys::SealKey;
use munshi_store::{Db, PlatformAdminTx, PlatformScope, PlatformTx, Tx, across_tenants, params};
use munshi_types::{IdGenerator, Random, TenantId, Timestamp};
use serde::Serialize;
use serde_json::json;

use self::seal_context::SealContext;
use crate::audit::{self, AuditActor, AuditEvent, NewAuditEntry, PseudonymKey};
use crate::error::{Error, Result};

/// Looking after keys and secrets, across tenants.
pub const VAULT: PlatformScope = PlatformScope::new("vault");

/// The vault of the installation: one for the process.
#[derive(Clone, Debug)]
pub struct Vault {
    db: Db,
    masters: Arc<MasterKeys>,
    random: Arc<dyn Random>,
    ids: IdGenerator,
}

/// What may be told of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SecretInfo {
    pub name: String,
    /// How often it has been set.
    pub version: i64,
    pub set_at: Timestamp,
}

/// Who does something to the vault, and when: it is written down with it.
#[derive(Clone, Debug)]
pub struct VaultAuditContext {
    pub actor: AuditActor,
    pub now: Timestamp,
}

impl Vault {
    /// Finds the key that this database's secrets are sealed with, and makes one where there are none yet. Any other
    /// key is refused.
    pub async fn start(
        db: Db,
        masters: impl Into<Arc<MasterKeys>>,
        random: Arc<dyn Random>,
        ids: IdGenerator,
        now: Timestamp,
    ) -> Result<Self> {
        let vault = Self { db, masters: masters.into(), random, ids };
        vault.ensure_master_key(now).await?;
        Ok(vault)
    }

    /// Seals a secret under its name; one that was there is replaced. Gives its version.
    pub async fn set(
        &self,
        tenant: TenantId,
        name: &SecretRef,
        secret: VaultSecret,
        by: VaultAuditContext,
    ) -> Result<i64> {
        let (vault, name) = (self.clone(), name.clone());
        self.db.platform(VAULT).write(move |tx| vault.set_in(tx, tenant, &name, &secret, &by)).await
    }

    /// The same in a transaction that goes through [`VAULT`], with what else belongs to it.
    pub fn set_in(
        &self,
        tx: &mut PlatformTx<'_>,
        tenant: TenantId,
        name: &SecretRef,
        secret: &VaultSecret,
        by: &VaultAuditContext,
    ) -> Result<i64> {
        let version = self.store(tx, tenant, name, secret, by.now)?;
        let payload = json!({ "version": version });
        self.record(tx, tenant, by, AuditEvent::SECRET_SET, name.to_string(), payload)?;
        Ok(version)
    }

    /// The same as an administrative change.
    pub fn administer_set(
        &self,
        tx: &mut PlatformAdminTx<'_, '_>,
        tenant: TenantId,
        name: &SecretRef,
        secret: &VaultSecret,
        now: Timestamp,
    ) -> Result<i64> {
        let version = self.store(tx, tenant, name, secret, now)?;
        tx.note([tenant], "secret.set", name.to_string(), json!({ "version": version }));
        Ok(version)
    }

    /// [`remove`](Self::remove) as an administrative change.
    pub fn administer_remove(
        &self,
        tx: &mut PlatformAdminTx<'_, '_>,
        tenant: TenantId,
        name: &SecretRef,
    ) -> Result<bool> {
        let removed = delete(tx, tenant, name)?;
        if removed {
            tx.note([tenant], "secret.removed", name.to_string(), json!({}));
        }
        Ok(removed)
    }

    fn store(
        &self,
        tx: &mut PlatformTx<'_>,
        tenant: TenantId,
        name: &SecretRef,
        secret: &VaultSecret,
        now: Timestamp,
    ) -> Result<i64> {
        let key = self.find_or_create_key(tx, tenant, now)?;
        let version = version(tx, tenant, name)?.unwrap_or(0) + 1;
        let place = SealContext::Secret { tenant, name: name.name(), version };
        let sealed = key.seal(secret.expose().as_bytes(), &place.bytes(), self.random.as_ref())?;
        tx.execute(
            across_tenants(
                "INSERT INTO vault_secrets (tenant_id, name, version, sealed, set_at)
                 VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, name) DO UPDATE
                 SET version = excluded.version, sealed = excluded.sealed, set_at = excluded.set_at",
            ),
            params![tenant, name.name(), version, sealed, now],
        )?;
        Ok(version)
    }

    /// Seals a secret in place of the one that is known. False where that is no longer the one that is there: then
    /// nothing is changed.
    pub async fn replace_if_unchanged(
        &self,
        tenant: TenantId,
        name: &SecretRef,
        known: VaultSecret,
        secret: VaultSecret,
        by: VaultAuditContext,
    ) -> Result<bool> {
        let (vault, name) = (self.clone(), name.clone());
        let unit = move |tx: &mut PlatformTx<'_>| {
            // Held from here on: nobody changes it between the look and the change.
            if version(tx, tenant, &name)?.is_none() {
                return Ok(false);
            }
            let there = tx.as_tenant(tenant, |tx| vault.open_in(tx, &name))?;
            if there.expose() != known.expose() {
                return Ok(false);
            }
            vault.set_in(tx, tenant, &name, &secret, &by).map(|_| true)
        };
        self.db.platform(VAULT).write(unit).await
    }

    /// Opens a secret of one tenant.
    pub async fn open(&self, tenant: TenantId, reference: &SecretRef) -> Result<VaultSecret> {
        let (vault, reference) = (self.clone(), reference.clone());
        self.db.read(tenant, move |tx| vault.open_in(tx, &reference)).await
    }

    /// Opens a secret of the transaction's tenant.
    pub fn open_in(&self, tx: &mut Tx<'_>, reference: &SecretRef) -> Result<VaultSecret> {
        let tenant = tx.tenant();
        let found = tx.optional(
            "SELECT s.version, s.sealed, k.key_id, k.wrapped FROM vault_secrets s
             JOIN vault_keys k ON k.tenant_id = s.tenant_id
             WHERE s.tenant_id = $1 AND k.tenant_id = $1 AND s.name = $2",
            params![reference.name()],
            |row| Ok((row.get(0)?, row.get::<Vec<u8>>(1)?, row.get::<String>(2)?, row.get::<Vec<u8>>(3)?)),
        )?;
        let Some((version, sealed, key_id, wrapped)) = found else { return Err(missing(tenant, reference)) };
        let key = self.unwrap_key(tenant, &key_id, &wrapped)?;
        let place = SealContext::Secret { tenant, name: reference.name(), version };
        let opened = key.open(&sealed, &place.bytes())?;
        let tampered = || Error::Tampered { what: format!("the secret {}", reference.name()) };
        opened.as_ref().and_then(VaultSecret::from_bytes).ok_or_else(tampered)
    }

    /// Every secret of a tenant, by name, without its value.
    pub async fn list(&self, tenant: TenantId) -> Result<Vec<SecretInfo>> {
        list(&self.db, tenant).await
    }

    /// False when there was none of this name.
    pub async fn remove(&self, tenant: TenantId, name: &SecretRef, by: VaultAuditContext) -> Result<bool> {
        let (vault, name) = (self.clone(), name.clone());
        self.db
            .platform(VAULT)
            .write(move |tx| {
                if !delete(tx, tenant, &name)? {
                    return Ok(false);
                }
                vault.record(tx, tenant, &by, AuditEvent::SECRET_REMOVED, name.to_string(), json!({}))?;
                Ok(true)
            })
            .await
    }

    /// Forgets a tenant's secrets and destroys its key: what was sealed with it, here or in a copy, and what its
    /// pseudonyms stood for, can't be known again. False when it had none.
    pub async fn destroy(&self, tenant: TenantId, by: VaultAuditContext) -> Result<bool> {
        let vault = self.clone();
        self.db.platform(VAULT).write(move |tx| keys::destroy(&vault, tx, tenant, &by)).await
    }

    /// What makes the tenant's pseudonyms. Keep it for as long as it is used: it costs a look at the database.
    pub async fn pseudonym_key(&self, tenant: TenantId, now: Timestamp) -> Result<PseudonymKey> {
        Ok(PseudonymKey::new(self.load_tenant_key(tenant, now).await?.derive("munshi audit phone")))
    }

    /// What the tenant's one-time codes are hashed with: the same on every node, and not in the database.
    pub async fn code_key(&self, tenant: TenantId, now: Timestamp) -> Result<CodeKey> {
        Ok(CodeKey::new(&self.load_tenant_key(tenant, now).await?.derive("munshi one-time code")))
    }

    /// The tenant's key, made where it has none yet.
    async fn load_tenant_key(&self, tenant: TenantId, now: Timestamp) -> Result<SealKey> {
        let vault = self.clone();
        if let Some(key) = self.db.read(tenant, move |tx| vault.find_tenant_key(tx)).await? {
            return Ok(key);
        }
        let vault = self.clone();
        self.db.platform(VAULT).write(move |tx| vault.find_or_create_key(tx, tenant, now)).await
    }

    fn record(
        &self,
        tx: &mut PlatformTx<'_>,
        tenant: TenantId,
        by: &VaultAuditContext,
        event: AuditEvent,
        subject: String,
        payload: serde_json::Value,
    ) -> Result<()> {
        let entry = NewAuditEntry { actor: by.actor.clone(), event, subject, payload };
        tx.as_tenant(tenant, |tx| audit::append(tx, &entry, by.now, &self.ids).map(|_| ()))
    }
}

fn delete(tx: &mut PlatformTx<'_>, tenant: TenantId, name: &SecretRef) -> Result<bool> {
    let removed = tx.execute(
        across_tenants("DELETE FROM vault_secrets WHERE tenant_id = $1 AND name = $2"),
        params![tenant, name.name()],
    )?;
    Ok(removed > 0)
}

/// Every secret of a tenant, by name, without its value; no key is needed for that.
pub async fn list(db: &Db, tenant: TenantId) -> Result<Vec<SecretInfo>> {
    db.read(tenant, |tx| {
        Ok(tx.all(
            "SELECT name, version, set_at FROM vault_secrets WHERE tenant_id = $1 ORDER BY name",
            &[],
            |row| Ok(SecretInfo { name: row.get(0)?, version: row.get(1)?, set_at: row.get(2)? }),
        )?)
    })
    .await
}

/// Removes a secret of the transaction's tenant, with what it was for: whoever takes that away tells the audit. False
/// when there was none.
pub fn remove(tx: &mut Tx<'_>, reference: &SecretRef) -> Result<bool> {
    let removed = tx
        .execute("DELETE FROM vault_secrets WHERE tenant_id = $1 AND name = $2", params![reference.name()])?;
    Ok(removed > 0)
}

/// When a secret of the transaction's tenant was last set; none where there is none.
pub fn find_set_at(tx: &mut Tx<'_>, reference: &SecretRef) -> Result<Option<Timestamp>> {
    Ok(tx.optional(
        "SELECT set_at FROM vault_secrets WHERE tenant_id = $1 AND name = $2",
        params![reference.name()],
        |row| row.get(0),
    )?)
}

fn version(tx: &mut PlatformTx<'_>, tenant: TenantId, name: &SecretRef) -> Result<Option<i64>> {
    let text = (
        "SELECT version FROM vault_secrets WHERE tenant_id = $1 AND name = $2",
        "SELECT version FROM vault_secrets WHERE tenant_id = $1 AND name = $2 FOR UPDATE",
    );
    Ok(tx.optional(across_tenants(text), params![tenant, name.name()], |row| row.get(0))?)
}

fn missing(tenant: TenantId, reference: &SecretRef) -> Error {
    let flag = if tenant == TenantId::PLATFORM { "" } else { " --tenant NAME" };
    Error::NoSecret { name: reference.name().to_owned(), flag }
}
