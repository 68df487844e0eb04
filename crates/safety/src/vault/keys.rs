//! The tenants' own keys, each wrapped by the installation's.

use std::sync::Arc;

use munshi_keys::{MasterKey, SealKey};
use munshi_store::{PlatformTx, Tx, across_tenants, params};
use munshi_types::{TenantId, Timestamp};
use serde_json::json;

use super::seal_context::SealContext;
use super::{VAULT, Vault, VaultAuditContext};
use crate::audit::AuditEvent;
use crate::error::{Error, Result};

impl Vault {
    /// Sees that the key is the one this database knows, or, where it knows none, makes one and tells it.
    pub(super) async fn ensure_master_key(&self, now: Timestamp) -> Result<()> {
        self.masters.source().remove_leftovers()?;
        let current = self.db.platform(VAULT).read(|tx| find_slot_key(tx, "current")).await?;
        if current.is_none() {
            let first = self.masters.load_or_create(self.random.as_ref())?;
            let Some(first) = first.map(|master| master.id.clone()) else { return Ok(()) };
            let claim = move |tx: &mut PlatformTx<'_>| {
                let text = "INSERT INTO vault_masters (slot, key_id, since) VALUES ('current', $1, $2)
                            ON CONFLICT (slot) DO NOTHING";
                tx.execute(across_tenants(text), params![first, now])?;
                Ok::<_, Error>(())
            };
            self.db.platform(VAULT).write(claim).await?;
        }
        let current = self.db.platform(VAULT).read(|tx| find_slot_key(tx, "current")).await?;
        current.map_or(Ok(()), |id| self.load_master(&id).map(|_| ()))
    }

    /// The installation's key of this id.
    pub(super) fn load_master(&self, id: &str) -> Result<Arc<MasterKey>> {
        Ok(self.masters.load(id, "this database's secrets are")?)
    }

    /// The key of the transaction's tenant, if it has one.
    pub(super) fn find_tenant_key(&self, tx: &mut Tx<'_>) -> Result<Option<SealKey>> {
        let found =
            tx.optional("SELECT key_id, wrapped FROM vault_keys WHERE tenant_id = $1", &[], |row| {
                Ok((row.get::<String>(0)?, row.get::<Vec<u8>>(1)?))
            })?;
        found.map(|(key_id, wrapped)| self.unwrap_key(tx.tenant(), &key_id, &wrapped)).transpose()
    }

    /// A tenant's key, made if it has none. The current key of the installation is held meanwhile, so that no key is
    /// wrapped by one that has just been retired.
    pub(super) fn find_or_create_key(
        &self,
        tx: &mut PlatformTx<'_>,
        tenant: TenantId,
        now: Timestamp,
    ) -> Result<SealKey> {
        if let Some(key) = self.stored_key(tx, tenant)? {
            return Ok(key);
        }
        let text = (
            "SELECT key_id FROM vault_masters WHERE slot = 'current'",
            "SELECT key_id FROM vault_masters WHERE slot = 'current' FOR SHARE",
        );
        let current: String = tx.one(across_tenants(text), &[], |row| row.get(0))?;
        let master = self.load_master(&current)?;
        let key = SealKey::random(self.random.as_ref());
        let wrapped = self.wrap(tenant, &key, &master)?;
        tx.execute(
            across_tenants(
                "INSERT INTO vault_keys (tenant_id, key_id, wrapped, made_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (tenant_id) DO NOTHING",
            ),
            params![tenant, current, wrapped, now],
        )?;
        // Another may have been quicker; then theirs is the tenant's key.
        self.stored_key(tx, tenant)?.ok_or_else(|| Error::Key("the tenant's key was destroyed".to_owned()))
    }

    fn stored_key(&self, tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<Option<SealKey>> {
        let found = tx.optional(
            across_tenants("SELECT key_id, wrapped FROM vault_keys WHERE tenant_id = $1"),
            params![tenant],
            |row| Ok((row.get::<String>(0)?, row.get::<Vec<u8>>(1)?)),
        )?;
        found.map(|(key_id, wrapped)| self.unwrap_key(tenant, &key_id, &wrapped)).transpose()
    }

    pub(super) fn wrap(&self, tenant: TenantId, key: &SealKey, master: &MasterKey) -> Result<Vec<u8>> {
        let place = SealContext::TenantKey { tenant, key_id: &master.id }.bytes();
        Ok(master.key.seal(key.bytes(), &place, self.random.as_ref())?)
    }

    pub(super) fn unwrap_key(&self, tenant: TenantId, key_id: &str, wrapped: &[u8]) -> Result<SealKey> {
        let master = self.load_master(key_id)?;
        let opened = master.key.open(wrapped, &SealContext::TenantKey { tenant, key_id }.bytes())?;
        let tampered = || Error::Tampered { what: format!("the key of tenant {tenant}") };
        opened.and_then(|bytes| SealKey::from_bytes(&bytes)).ok_or_else(tampered)
    }
}

/// The id of the installation's key in a slot.
pub(super) fn find_slot_key(tx: &mut PlatformTx<'_>, slot: &str) -> Result<Option<String>> {
    Ok(tx.optional(
        across_tenants("SELECT key_id FROM vault_masters WHERE slot = $1"),
        params![slot],
        |row| row.get(0),
    )?)
}

/// The key is overwritten before its row goes, so that its bytes don't linger in a free page.
pub(super) fn destroy(
    vault: &Vault,
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    by: &VaultAuditContext,
) -> Result<bool> {
    tx.execute(across_tenants("DELETE FROM vault_secrets WHERE tenant_id = $1"), params![tenant])?;
    let length: Option<Vec<u8>> = tx.optional(
        across_tenants("SELECT wrapped FROM vault_keys WHERE tenant_id = $1"),
        params![tenant],
        |row| row.get(0),
    )?;
    let Some(wrapped) = length else { return Ok(false) };
    tx.execute(
        across_tenants("UPDATE vault_keys SET wrapped = $2 WHERE tenant_id = $1"),
        params![tenant, vec![0_u8; wrapped.len()]],
    )?;
    tx.execute(across_tenants("DELETE FROM vault_keys WHERE tenant_id = $1"), params![tenant])?;
    vault.record(tx, tenant, by, AuditEvent::KEY_DESTROYED, "vault".to_owned(), json!({}))?;
    Ok(true)
}
