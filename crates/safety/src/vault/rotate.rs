//! Bringing in another key of the installation, step by step, so that a crash between any two leaves everything
//! readable and running it again goes on where it stopped.
//!
//! 1. The next key is made, on disk, beside the one in use.
//! 2. The database is told: from now on tenants' keys are wrapped by the next one; the one before is retiring.
//! 3. Tenants' keys are wrapped anew, some at a time, here and then in the store of keys. Each row says which key it needs, and
//!    both are there.
//! 4. The next key takes the place of the one before.
//! 5. The database forgets the one before.

use munshi_keys::KeyWorker;
use munshi_store::{PlatformTx, across_tenants, params};
use munshi_types::TenantId;
use serde::Serialize;
use serde_json::json;

use super::keys::find_slot_key;
use super::{VAULT, Vault, VaultAuditContext};
use crate::audit::AuditEvent;
use crate::error::{Error, Result};

/// How many tenants' keys are wrapped anew in one transaction.
const STEP: u32 = 100;

/// What rotating did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MasterKeyRotation {
    /// The ids of the keys, old and new.
    pub from: String,
    pub to: String,
    /// How many tenants' keys were wrapped anew, this time.
    pub keys: u64,
    /// Whether a rotation was finished that had been cut short.
    pub resumed: bool,
    /// What is left for a person to do.
    pub advice: String,
}

/// The ids of both keys, and whether a rotation was under way already.
pub(super) struct RotationStart {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) resumed: bool,
}

impl Vault {
    /// Replaces the installation's key by another. Run again after a crash, it goes on where it stopped. Others may use
    /// the vault meanwhile, also in other processes.
    ///
    /// `store` is the store of keys, which the same key protects; none only where there is none.
    pub async fn rotate(
        &self,
        by: VaultAuditContext,
        store: Option<&KeyWorker>,
    ) -> Result<MasterKeyRotation> {
        let begun = self.begin_rotation(&by).await?;
        let mut keys = 0;
        loop {
            match self.rewrap(&begun).await? {
                0 => break,
                some => keys += some,
            }
        }
        if let Some(store) = store {
            keys += store.rotate_master(&begun.to).await?;
        }
        let advice = self.masters.source().promote_next(&begun.from)?;
        self.end_rotation(&begun, by, keys).await?;
        Ok(MasterKeyRotation { from: begun.from, to: begun.to, keys, resumed: begun.resumed, advice })
    }

    pub(super) async fn begin_rotation(&self, by: &VaultAuditContext) -> Result<RotationStart> {
        let slots = |tx: &mut PlatformTx<'_>| {
            Ok::<_, Error>((find_slot_key(tx, "current")?, find_slot_key(tx, "retiring")?))
        };
        let (current, retiring) = self.db.platform(VAULT).read(slots).await?;
        let current = current.ok_or_else(|| Error::Key("there is no key to rotate yet".to_owned()))?;
        if let Some(from) = retiring {
            self.load_master(&current)?;
            return Ok(RotationStart { from, to: current, resumed: true });
        }
        self.load_master(&current)?;
        self.masters.source().remove_leftovers()?;
        let next = self.masters.source().load_or_create_next(self.random.as_ref())?.id.clone();
        if next == current {
            return Err(Error::Key("the next key is already in use: provide another".to_owned()));
        }
        let (from, to, now) = (current.clone(), next.clone(), by.now);
        let switch = move |tx: &mut PlatformTx<'_>| {
            let changed = tx.execute(
                across_tenants(
                    "UPDATE vault_masters SET key_id = $1, since = $3 WHERE slot = 'current' AND key_id = $2",
                ),
                params![to, from, now],
            )?;
            if changed == 0 {
                return Err(Error::Key("another process is rotating the key: try again later".to_owned()));
            }
            tx.execute(
                across_tenants("INSERT INTO vault_masters (slot, key_id, since) VALUES ('retiring', $1, $2)"),
                params![from, now],
            )?;
            Ok(())
        };
        self.db.platform(VAULT).write(switch).await?;
        Ok(RotationStart { from: current, to: next, resumed: false })
    }

    /// Wraps some tenants' keys anew and says how many; 0 when none is left.
    pub(super) async fn rewrap(&self, begun: &RotationStart) -> Result<u64> {
        let (vault, from, to) = (self.clone(), begun.from.clone(), begun.to.clone());
        self.db.platform(VAULT).write(move |tx| vault.rewrap_batch(tx, &from, &to)).await
    }

    fn rewrap_batch(&self, tx: &mut PlatformTx<'_>, from: &str, to: &str) -> Result<u64> {
        let text = (
            "SELECT tenant_id, wrapped FROM vault_keys WHERE key_id = $1 ORDER BY tenant_id LIMIT $2",
            "SELECT tenant_id, wrapped FROM vault_keys WHERE key_id = $1 ORDER BY tenant_id LIMIT $2 FOR UPDATE",
        );
        let rows: Vec<(TenantId, Vec<u8>)> =
            tx.all(across_tenants(text), params![from, STEP], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if rows.is_empty() {
            return Ok(0);
        }
        let master = self.load_master(to)?;
        for (tenant, wrapped) in &rows {
            let key = self.unwrap_key(*tenant, from, wrapped)?;
            tx.execute(
                across_tenants(
                    "UPDATE vault_keys SET key_id = $2, wrapped = $3 WHERE tenant_id = $1 AND key_id = $4",
                ),
                params![*tenant, to, self.wrap(*tenant, &key, &master)?, from],
            )?;
        }
        Ok(rows.len() as u64)
    }

    pub(super) async fn end_rotation(
        &self,
        begun: &RotationStart,
        by: VaultAuditContext,
        keys: u64,
    ) -> Result<()> {
        let (vault, from, to) = (self.clone(), begun.from.clone(), begun.to.clone());
        let end = move |tx: &mut PlatformTx<'_>| {
            tx.execute(
                across_tenants("DELETE FROM vault_masters WHERE slot = 'retiring' AND key_id = $1"),
                params![from],
            )?;
            let payload = json!({ "from": from, "to": to, "keys": keys });
            vault.record(tx, TenantId::PLATFORM, &by, AuditEvent::KEY_ROTATED, "vault".to_owned(), payload)
        };
        self.db.platform(VAULT).write(end).await
    }
}
