//! Keys on their way out of the store: each with the tenant's key that wraps it, read at one moment, so that no rotation comes between.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use munshi_store::{JsonText, PlatformTx, across_tenants, params};
use munshi_types::{DataKeyId, Id, TenantId};

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::key_store::{KEYS, KeyStore, OwnKey, StoredKey};
use crate::key_wrapper::WrappedKey;

/// So many keys are asked for in one statement.
const BATCH: usize = 500;

/// A tenant's key as it lies in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrappedTenantKey {
    pub(crate) number: i64,
    pub(crate) master: String,
    pub(crate) wrapped: Vec<u8>,
}

/// A tenant's key with the row that it came from. It stands for that row alone: in a store that was put back from a copy the same number may be
/// another key.
#[derive(Clone, Debug)]
pub(crate) struct CachedTenantKey {
    pub(crate) row: WrappedTenantKey,
    pub(crate) key: Arc<SealKey>,
}

/// A tenant's keys, by their number: one, and while it is rotated another.
pub(crate) type TenantKeys = BTreeMap<i64, Arc<SealKey>>;

/// What a statement found of some keys.
#[derive(Default)]
struct LoadedKeys {
    tenant_keys: Vec<WrappedTenantKey>,
    live: Vec<WrappedKey>,
    destroyed: HashSet<DataKeyId>,
}

impl KeyStore {
    pub(crate) async fn load(&mut self, tenant: TenantId, id: DataKeyId) -> Result<StoredKey> {
        let found = self.load_all(tenant, &[id]).await?.pop();
        Ok(found.map_or(StoredKey::Unknown, |(_, key)| key))
    }

    /// What there is of each of these keys.
    pub(crate) async fn load_all(
        &mut self,
        tenant: TenantId,
        ids: &[DataKeyId],
    ) -> Result<Vec<(DataKeyId, StoredKey)>> {
        let mut all = Vec::with_capacity(ids.len());
        for batch in ids.chunks(BATCH) {
            let hex: Vec<String> = batch.iter().map(|id| id.as_uuid().simple().to_string()).collect();
            let wanted = JsonText::of(&hex)?;
            let read = move |tx: &mut PlatformTx<'_>| find_keys(tx, tenant, &wanted, hex.len());
            let found = self.db.platform(KEYS).read(read).await?;
            let tenant_keys = match found.live.is_empty() {
                true => TenantKeys::new(),
                false => by_number(&self.remember_tenant_keys(tenant, found.tenant_keys)?),
            };
            let mut live = BTreeMap::new();
            for key in &found.live {
                live.insert(key.id, StoredKey::Live(key.kind, unwrap(tenant, &tenant_keys, key)?));
            }
            all.extend(batch.iter().map(|id| {
                let gone = || match found.destroyed.contains(id) {
                    true => StoredKey::Destroyed,
                    false => StoredKey::Unknown,
                };
                (*id, live.remove(id).unwrap_or_else(gone))
            }));
        }
        Ok(all)
    }

    /// A key of the tenant's own, where it has one.
    pub(crate) async fn find_own(
        &mut self,
        tenant: TenantId,
        which: OwnKey,
    ) -> Result<Option<(DataKeyId, SealKey)>> {
        let read = move |tx: &mut PlatformTx<'_>| {
            let text =
                "SELECT id, kind, wrapped_by, wrapped FROM data_keys WHERE tenant_id = $1 AND kind = $2";
            let own =
                tx.optional(across_tenants(text), params![tenant, which.kind().name()], WrappedKey::read)?;
            let tenant_keys = if own.is_some() { list_tenant_keys(tx, tenant)? } else { Vec::new() };
            Ok::<_, Error>((own, tenant_keys))
        };
        let (own, tenant_keys) = self.db.platform(KEYS).read(read).await?;
        let Some(own) = own else { return Ok(None) };
        let tenant_keys = by_number(&self.remember_tenant_keys(tenant, tenant_keys)?);
        Ok(Some((own.id, unwrap(tenant, &tenant_keys, &own)?)))
    }

    /// The tenant's key in use, which has the highest number; none where it has none yet.
    pub(crate) async fn find_current_tenant_key(
        &mut self,
        tenant: TenantId,
    ) -> Result<Option<CachedTenantKey>> {
        let found = self.db.platform(KEYS).read(move |tx| list_tenant_keys(tx, tenant)).await?;
        let keys = self.remember_tenant_keys(tenant, found)?;
        Ok(keys.into_iter().max_by_key(|known| known.row.number))
    }

    /// Those of a tenant's keys that are in the store, unwrapped; what is there no more is forgotten here too.
    fn remember_tenant_keys(
        &mut self,
        tenant: TenantId,
        found: Vec<WrappedTenantKey>,
    ) -> Result<Vec<CachedTenantKey>> {
        let known = self.tenants.remove(&tenant).unwrap_or_default();
        let mut keys = Vec::with_capacity(found.len());
        for row in found {
            let key = match known.iter().find(|known| known.row == row) {
                Some(known) => known.key.clone(),
                None => Arc::new(self.wrapper().unwrap(tenant, row.number, &row.master, &row.wrapped)?),
            };
            keys.push(CachedTenantKey { row, key });
        }
        self.tenants.insert(tenant, keys.clone());
        Ok(keys)
    }
}

fn by_number(keys: &[CachedTenantKey]) -> TenantKeys {
    keys.iter().map(|known| (known.row.number, known.key.clone())).collect()
}

fn unwrap(tenant: TenantId, tenant_keys: &TenantKeys, key: &WrappedKey) -> Result<SealKey> {
    let number = key.number;
    let missing =
        || Error::Key(format!("the key {number} of tenant {tenant} is missing from the store of keys"));
    key.unwrap(tenant, tenant_keys.get(&number).ok_or_else(missing)?)
}

pub(crate) fn list_tenant_keys(tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<Vec<WrappedTenantKey>> {
    Ok(tx.all(
        across_tenants("SELECT number, master_id, wrapped FROM tenant_keys WHERE tenant_id = $1"),
        params![tenant],
        |row| Ok(WrappedTenantKey { number: row.get(0)?, master: row.get(1)?, wrapped: row.get(2)? }),
    )?)
}

fn find_keys(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    wanted: &JsonText,
    count: usize,
) -> Result<LoadedKeys> {
    let live = tx.all(
        across_tenants((
            "SELECT id, kind, wrapped_by, wrapped FROM data_keys
             WHERE tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))",
            "SELECT id, kind, wrapped_by, wrapped FROM data_keys
             WHERE tenant_id = $1
               AND id = ANY (ARRAY(SELECT one.value::uuid FROM jsonb_array_elements_text($2::jsonb) AS one))",
        )),
        params![tenant, wanted],
        WrappedKey::read,
    )?;
    let mut found = LoadedKeys { live, ..LoadedKeys::default() };
    if !found.live.is_empty() {
        found.tenant_keys = list_tenant_keys(tx, tenant)?;
    }
    if found.live.len() < count {
        let gone: Vec<DataKeyId> = tx.all(
            across_tenants((
                "SELECT id FROM destroyed_keys
                 WHERE tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))",
                "SELECT id FROM destroyed_keys
                 WHERE tenant_id = $1
                   AND id = ANY (ARRAY(SELECT one.value::uuid FROM jsonb_array_elements_text($2::jsonb) AS one))",
            )),
            params![tenant, wanted],
            |row| row.get(0),
        )?;
        found.destroyed.extend(gone);
    }
    Ok(found)
}
