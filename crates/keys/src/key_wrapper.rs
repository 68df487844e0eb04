//! How keys are wrapped: a tenant's by the installation's, those that seal by the tenant's.

use std::sync::Arc;

use munshi_store::{PlatformTx, across_tenants, params};
use munshi_types::{DataKeyId, Id, Random, TenantId};

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::masters::MasterKeys;

/// A key that seals, as it lies in the store.
pub(crate) struct WrappedKey {
    pub(crate) id: DataKeyId,
    pub(crate) kind: KeyKind,
    /// Of the tenant's key that wraps it.
    pub(crate) number: i64,
    pub(crate) wrapped: Vec<u8>,
}

impl WrappedKey {
    pub(crate) fn read(row: &munshi_store::Row<'_>) -> munshi_store::Result<Self> {
        let kind = KeyKind::from_name(&row.get::<String>(1)?)?;
        Ok(Self { id: row.get(0)?, kind, number: row.get(2)?, wrapped: row.get(3)? })
    }

    pub(crate) fn unwrap(&self, tenant: TenantId, by: &SealKey) -> Result<SealKey> {
        let opened = by.open(&self.wrapped, &data_key_place(tenant, self.id, self.kind))?;
        let tampered = || Error::Tampered { what: format!("the data key {} of tenant {tenant}", self.id) };
        opened.and_then(|bytes| SealKey::from_bytes(&bytes)).ok_or_else(tampered)
    }
}

/// Wraps a key that seals.
pub(crate) fn wrap_data_key(
    key: &SealKey,
    (tenant, id, kind): (TenantId, DataKeyId, KeyKind),
    by: &SealKey,
    random: &dyn Random,
) -> Result<Vec<u8>> {
    by.seal(key.bytes(), &data_key_place(tenant, id, kind), random)
}

/// What wraps tenants' keys, within a unit of work.
#[derive(Clone)]
pub(crate) struct KeyWrapper {
    pub(crate) masters: Arc<MasterKeys>,
    pub(crate) random: Arc<dyn Random>,
}

impl KeyWrapper {
    pub(crate) fn unwrap(
        &self,
        tenant: TenantId,
        number: i64,
        master: &str,
        wrapped: &[u8],
    ) -> Result<SealKey> {
        let key = self.masters.load(master, "the store of keys is")?;
        let opened = key.key.open(wrapped, &tenant_key_place(tenant, number, master))?;
        let tampered = || Error::Tampered { what: format!("the key {number} of tenant {tenant}") };
        opened.and_then(|bytes| SealKey::from_bytes(&bytes)).ok_or_else(tampered)
    }

    pub(crate) fn wrap(&self, tenant: TenantId, number: i64, master: &str, key: &SealKey) -> Result<Vec<u8>> {
        let place = tenant_key_place(tenant, number, master);
        let master = self.masters.load(master, "the store of keys is")?;
        master.key.seal(key.bytes(), &place, self.random.as_ref())
    }

    /// Wraps the next tenants' keys by this key of the installation. Says how many.
    pub(crate) fn rewrap_tenant_keys(&self, tx: &mut PlatformTx<'_>, to: &str) -> Result<u64> {
        let rows: Vec<(TenantId, i64, String, Vec<u8>)> = tx.all(
            across_tenants((
                "SELECT tenant_id, number, master_id, wrapped FROM tenant_keys WHERE master_id <> $1
             ORDER BY tenant_id, number LIMIT 100",
                "SELECT tenant_id, number, master_id, wrapped FROM tenant_keys WHERE master_id <> $1
             ORDER BY tenant_id, number LIMIT 100 FOR UPDATE",
            )),
            params![to],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )?;
        for (tenant, number, master, wrapped) in &rows {
            let key = self.unwrap(*tenant, *number, master, wrapped)?;
            let anew = self.wrap(*tenant, *number, to, &key)?;
            let text =
                "UPDATE tenant_keys SET master_id = $3, wrapped = $4 WHERE tenant_id = $1 AND number = $2";
            tx.execute(across_tenants(text), params![*tenant, *number, to, anew])?;
        }
        Ok(rows.len() as u64)
    }
}

/// Every part has a fixed length but the last, so that no two places read alike.
fn tenant_key_place(tenant: TenantId, number: i64, master: &str) -> Vec<u8> {
    let tenant = tenant.as_uuid();
    [b"munshi tenant key\0", &tenant.as_bytes()[..], &number.to_be_bytes()[..], master.as_bytes()].concat()
}

fn data_key_place(tenant: TenantId, id: DataKeyId, kind: KeyKind) -> Vec<u8> {
    let (tenant, id) = (tenant.as_uuid(), id.as_uuid());
    [b"munshi data key\0", &tenant.as_bytes()[..], &id.as_bytes()[..], kind.name().as_bytes()].concat()
}
