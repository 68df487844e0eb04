//! The store of keys: what it holds, and how each key is wrapped.

use std::collections::HashMap;
use std::sync::Arc;

use munshi_store::{DatabaseAddress, Db, PlatformScope, PlatformTx, across_tenants, params};
use munshi_types::{Clock, DataKeyId, Id, IdGenerator, Random, TenantId, Timestamp};
use uuid::Uuid;

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::key_loading::CachedTenantKey;
use crate::key_traces::ClearedTraces;
use crate::key_wrapper::{KeyWrapper, wrap_data_key};
use crate::masters::MasterKeys;

/// Looking after keys, in the database that holds nothing else.
pub(crate) const KEYS: PlatformScope = PlatformScope::new("keys");

/// How often making keys begins again while a tenant's key is rotated.
const TRIES: usize = 32;

/// What else a tenant has a key for than its persons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OwnKey {
    /// What belongs to no one person.
    Tenant,
    /// Keyed hashes, by which addresses and words are found. Never replaced: the hashes stand in rows.
    Hash,
}

impl OwnKey {
    pub(crate) fn kind(self) -> KeyKind {
        match self {
            Self::Tenant => KeyKind::Tenant,
            Self::Hash => KeyKind::Hash,
        }
    }
}

/// What there is of a key.
#[derive(Debug)]
pub enum StoredKey {
    Live(KeyKind, SealKey),
    /// Somebody was forgotten.
    Destroyed,
    /// This store never had it: it is another installation's, or older than what it should open.
    Unknown,
}

/// The open store.
#[derive(Debug)]
pub(crate) struct KeyStore {
    pub(crate) db: Db,
    masters: Arc<MasterKeys>,
    pub(crate) clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    ids: IdGenerator,
    /// Tenants' keys, as they were seen last.
    pub(crate) tenants: HashMap<TenantId, Vec<CachedTenantKey>>,
    /// Logs in as whoever owns the tables.
    pub(crate) owner: DatabaseAddress,
    pub(crate) cleared: ClearedTraces,
}

impl KeyStore {
    /// Sees that the installation's key is the one this store knows; a new store takes the one in use, made if need be.
    pub(crate) async fn open(
        (db, owner): (Db, DatabaseAddress),
        masters: Arc<MasterKeys>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self> {
        let ids = IdGenerator::new(clock.clone(), random.clone());
        let tenants = HashMap::new();
        let cleared = ClearedTraces::default();
        let store = Self { db, masters, clock, random, ids, tenants, owner, cleared };
        store.ensure_master().await?;
        Ok(store)
    }

    async fn ensure_master(&self) -> Result<()> {
        let known = self.db.platform(KEYS).read(|tx| find_slot(tx, "current")).await?;
        if let Some(id) = known {
            return self.masters.load(&id, "the store of keys is").map(|_| ());
        }
        let Some(first) = self.masters.load_or_create(self.random.as_ref())? else { return Ok(()) };
        let (store, first, now) =
            (self.ids.next::<DataKeyId>().as_uuid(), first.id.clone(), self.clock.now());
        let claim = move |tx: &mut PlatformTx<'_>| {
            tx.execute(
                across_tenants(
                    "INSERT INTO key_masters (slot, master_id, since) VALUES ('current', $1, $2)
                     ON CONFLICT (slot) DO NOTHING",
                ),
                params![first, now],
            )?;
            tx.execute(
                across_tenants(
                    "INSERT INTO key_store (slot, id, made_at) VALUES (1, $1, $2) ON CONFLICT (slot) DO NOTHING",
                ),
                params![store, now],
            )?;
            Ok::<_, Error>(())
        };
        self.db.platform(KEYS).write(claim).await?;
        // Another may have been quicker.
        let current = self.db.platform(KEYS).read(|tx| find_slot(tx, "current")).await?;
        current.map_or(Ok(()), |id| self.masters.load(&id, "the store of keys is").map(|_| ()))
    }

    /// What the main database knows this store by.
    pub(crate) async fn id(&self) -> Result<Uuid> {
        let read = |tx: &mut PlatformTx<'_>| {
            tx.one(across_tenants("SELECT id FROM key_store WHERE slot = 1"), &[], |row| row.get(0))
        };
        Ok(self.db.platform(KEYS).read(read).await?)
    }

    /// A key of the tenant's own, made if it has none.
    pub(crate) async fn load_or_create_own(
        &mut self,
        tenant: TenantId,
        which: OwnKey,
    ) -> Result<(DataKeyId, SealKey)> {
        if let Some(found) = self.find_own(tenant, which).await? {
            return Ok(found);
        }
        self.make(tenant, which.kind(), 1).await?;
        // Another may have been quicker; then theirs is the tenant's key.
        let found = self.find_own(tenant, which).await?;
        found.ok_or_else(|| destroyed_tenant(tenant))
    }

    /// Keys for persons to come, on disk before anybody has one.
    pub(crate) async fn make_person_keys(
        &mut self,
        tenant: TenantId,
        count: usize,
    ) -> Result<Vec<(DataKeyId, SealKey)>> {
        self.make(tenant, KeyKind::Person, count).await
    }

    /// A key for a search index, on disk before the index names it.
    pub(crate) async fn make_index_key(&mut self, tenant: TenantId) -> Result<(DataKeyId, SealKey)> {
        let made = self.make(tenant, KeyKind::Index, 1).await?.pop();
        made.ok_or_else(|| Error::Key("no key was made".to_owned()))
    }

    /// Begins again where the tenant's key was rotated meanwhile.
    async fn make(
        &mut self,
        tenant: TenantId,
        kind: KeyKind,
        count: usize,
    ) -> Result<Vec<(DataKeyId, SealKey)>> {
        for _ in 0..TRIES {
            if let Some(made) = self.try_make(tenant, kind, count).await? {
                return Ok(made);
            }
        }
        let what = "the tenant's key is rotated again and again".to_owned();
        Err(Error::Store(munshi_store::Error::Busy(what)))
    }

    /// None where the tenant's key is another now, or wrapped anew.
    async fn try_make(
        &mut self,
        tenant: TenantId,
        kind: KeyKind,
        count: usize,
    ) -> Result<Option<Vec<(DataKeyId, SealKey)>>> {
        let CachedTenantKey { row: wrapping, key: by } = self.current_tenant_key(tenant).await?;
        let (mut made, mut rows) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let (id, key): (DataKeyId, _) = (self.ids.next(), SealKey::random(self.random.as_ref()));
            rows.push((id, wrap_data_key(&key, (tenant, id, kind), &by, self.random.as_ref())?));
            made.push((id, key));
        }
        let now = self.clock.now();
        let write = move |tx: &mut PlatformTx<'_>| {
            // Held from here on: a rotation does not take the tenant's key away meanwhile.
            let held = tx.optional(
                across_tenants((
                    "SELECT 1 FROM tenant_keys WHERE tenant_id = $1 AND number = $2 AND wrapped = $3",
                    "SELECT 1 FROM tenant_keys WHERE tenant_id = $1 AND number = $2 AND wrapped = $3 FOR SHARE",
                )),
                params![tenant, wrapping.number, wrapping.wrapped],
                |_| Ok(()),
            )?;
            if held.is_none() {
                return Ok(false);
            }
            for (id, wrapped) in rows {
                tx.execute(
                    across_tenants(
                        "INSERT INTO data_keys (tenant_id, id, kind, wrapped_by, wrapped, made_at)
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
                    ),
                    params![tenant, id, kind.name(), wrapping.number, wrapped, now],
                )?;
            }
            Ok::<_, Error>(true)
        };
        Ok(self.db.platform(KEYS).write(write).await?.then_some(made))
    }

    pub(crate) fn wrapper(&self) -> KeyWrapper {
        KeyWrapper { masters: self.masters.clone(), random: self.random.clone() }
    }

    /// The tenant's key in use, made if it has none.
    async fn current_tenant_key(&mut self, tenant: TenantId) -> Result<CachedTenantKey> {
        if let Some(found) = self.find_current_tenant_key(tenant).await? {
            return Ok(found);
        }
        self.make_tenant_key(tenant, 1).await?;
        self.find_current_tenant_key(tenant).await?.ok_or_else(|| destroyed_tenant(tenant))
    }

    async fn make_tenant_key(&self, tenant: TenantId, number: i64) -> Result<()> {
        let (wrapper, now) = (self.wrapper(), self.clock.now());
        let write = move |tx: &mut PlatformTx<'_>| insert_tenant_key(tx, &wrapper, (tenant, number), now);
        self.db.platform(KEYS).write(write).await
    }
}

/// Makes a tenant's key of this number, unless another was quicker. The installation's current key is held meanwhile, so that nothing is
/// wrapped by one that has just been retired.
pub(crate) fn insert_tenant_key(
    tx: &mut PlatformTx<'_>,
    wrapper: &KeyWrapper,
    (tenant, number): (TenantId, i64),
    now: Timestamp,
) -> Result<()> {
    let current: String = tx.one(
        across_tenants((
            "SELECT master_id FROM key_masters WHERE slot = 'current'",
            "SELECT master_id FROM key_masters WHERE slot = 'current' FOR SHARE",
        )),
        &[],
        |row| row.get(0),
    )?;
    let key = SealKey::random(wrapper.random.as_ref());
    let wrapped = wrapper.wrap(tenant, number, &current, &key)?;
    tx.execute(
        across_tenants(
            "INSERT INTO tenant_keys (tenant_id, number, master_id, wrapped, made_at)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        ),
        params![tenant, number, current, wrapped, now],
    )?;
    Ok(())
}

fn find_slot(tx: &mut PlatformTx<'_>, slot: &str) -> Result<Option<String>> {
    Ok(tx.optional(
        across_tenants("SELECT master_id FROM key_masters WHERE slot = $1"),
        params![slot],
        |row| row.get(0),
    )?)
}

fn destroyed_tenant(tenant: TenantId) -> Error {
    Error::Key(format!("the keys of tenant {tenant} were destroyed"))
}
