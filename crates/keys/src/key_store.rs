//! The store of keys: what it holds, and how each key is wrapped.

use std::collections::HashMap;
use std::sync::Arc;

use munshi_store::{Db, PlatformScope, PlatformTx, across_tenants, params};
use munshi_types::{Clock, DataKeyId, Id, IdGenerator, Random, TenantId, Timestamp};
use uuid::Uuid;

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::masters::MasterKeys;

/// Looking after keys, in the database that holds nothing else.
const KEYS: PlatformScope = PlatformScope::new("keys");

/// What else a tenant has a key for than its persons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OwnKey {
    /// What belongs to no one person.
    Tenant,
    /// Keyed hashes, by which addresses and words are found. Never replaced: the hashes stand in rows.
    Hash,
}

impl OwnKey {
    fn kind(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Hash => "hash",
        }
    }
}

/// What there is of a key.
#[derive(Debug)]
pub enum StoredKey {
    Live(SealKey),
    /// Somebody was forgotten.
    Destroyed,
    /// This store never had it: it is another installation's, or older than what it should open.
    Unknown,
}

/// The open store.
#[derive(Debug)]
pub(crate) struct KeyStore {
    db: Db,
    masters: Arc<MasterKeys>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    ids: IdGenerator,
    /// Tenants' keys, by their number.
    tenants: HashMap<(TenantId, i64), Arc<SealKey>>,
}

/// A key as it lies in the store.
struct WrappedKey {
    id: DataKeyId,
    kind: String,
    number: i64,
    wrapped: Vec<u8>,
}

impl KeyStore {
    /// Sees that the installation's key is the one this store knows; a new store takes the one in use, made if need be.
    pub(crate) async fn open(
        db: Db,
        masters: Arc<MasterKeys>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self> {
        let ids = IdGenerator::new(clock.clone(), random.clone());
        let store = Self { db, masters, clock, random, ids, tenants: HashMap::new() };
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

    pub(crate) async fn load(&mut self, tenant: TenantId, id: DataKeyId) -> Result<StoredKey> {
        let read = move |tx: &mut PlatformTx<'_>| {
            if let Some(found) = tx.optional(
                across_tenants(
                    "SELECT id, kind, wrapped_by, wrapped FROM data_keys WHERE tenant_id = $1 AND id = $2",
                ),
                params![tenant, id],
                read_wrapped,
            )? {
                return Ok((Some(found), false));
            }
            let gone = tx.optional(
                across_tenants("SELECT 1 FROM destroyed_keys WHERE tenant_id = $1 AND id = $2"),
                params![tenant, id],
                |_| Ok(()),
            )?;
            Ok::<_, Error>((None, gone.is_some()))
        };
        match self.db.platform(KEYS).read(read).await? {
            (Some(found), _) => self.unwrap_data_key(tenant, &found).await.map(StoredKey::Live),
            (None, true) => Ok(StoredKey::Destroyed),
            (None, false) => Ok(StoredKey::Unknown),
        }
    }

    /// A key of the tenant's own, made if it has none.
    pub(crate) async fn load_or_create_own(
        &mut self,
        tenant: TenantId,
        which: OwnKey,
    ) -> Result<(DataKeyId, SealKey)> {
        if let Some(found) = self.find_own(tenant, which).await? {
            return Ok((found.id, self.unwrap_data_key(tenant, &found).await?));
        }
        self.make(tenant, which.kind(), 1).await?;
        // Another may have been quicker; then theirs is the tenant's key.
        let found = self.find_own(tenant, which).await?;
        let found = found.ok_or_else(|| Error::Key(format!("the keys of tenant {tenant} were destroyed")))?;
        Ok((found.id, self.unwrap_data_key(tenant, &found).await?))
    }

    async fn find_own(&self, tenant: TenantId, which: OwnKey) -> Result<Option<WrappedKey>> {
        let read = move |tx: &mut PlatformTx<'_>| {
            let text =
                "SELECT id, kind, wrapped_by, wrapped FROM data_keys WHERE tenant_id = $1 AND kind = $2";
            tx.optional(across_tenants(text), params![tenant, which.kind()], read_wrapped)
        };
        Ok(self.db.platform(KEYS).read(read).await?)
    }

    /// Keys for persons to come, on disk before anybody has one.
    pub(crate) async fn make_person_keys(
        &mut self,
        tenant: TenantId,
        count: usize,
    ) -> Result<Vec<(DataKeyId, SealKey)>> {
        self.make(tenant, "person", count).await
    }

    async fn make(
        &mut self,
        tenant: TenantId,
        kind: &'static str,
        count: usize,
    ) -> Result<Vec<(DataKeyId, SealKey)>> {
        let (number, wrapping) = self.current_tenant_key(tenant).await?;
        let (mut made, mut rows) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let (id, key): (DataKeyId, _) = (self.ids.next(), SealKey::random(self.random.as_ref()));
            rows.push((
                id,
                wrapping.seal(key.bytes(), &data_key_place(tenant, id, kind), self.random.as_ref())?,
            ));
            made.push((id, key));
        }
        let now = self.clock.now();
        let write = move |tx: &mut PlatformTx<'_>| {
            // Held from here on: a rotation does not take the tenant's key away meanwhile.
            if tx
                .optional(
                    across_tenants((
                        "SELECT 1 FROM tenant_keys WHERE tenant_id = $1 AND number = $2",
                        "SELECT 1 FROM tenant_keys WHERE tenant_id = $1 AND number = $2 FOR SHARE",
                    )),
                    params![tenant, number],
                    |_| Ok(()),
                )?
                .is_none()
            {
                let what = "the tenant's key was rotated meanwhile".to_owned();
                return Err(Error::Store(munshi_store::Error::Busy(what)));
            }
            for (id, wrapped) in rows {
                tx.execute(
                    across_tenants(
                        "INSERT INTO data_keys (tenant_id, id, kind, wrapped_by, wrapped, made_at)
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
                    ),
                    params![tenant, id, kind, number, wrapped, now],
                )?;
            }
            Ok(())
        };
        self.db.platform(KEYS).write(write).await?;
        Ok(made)
    }

    /// Wraps tenants' keys by another key of the installation. Run again after a crash, it goes on where it stopped. Says how many were
    /// wrapped anew.
    pub(crate) async fn rotate_master(&self, to: &str) -> Result<u64> {
        let (next, now) = (to.to_owned(), self.clock.now());
        let switch = move |tx: &mut PlatformTx<'_>| {
            tx.execute(
                across_tenants(
                    "UPDATE key_masters SET master_id = $1, since = $2 WHERE slot = 'current' AND master_id <> $1",
                ),
                params![next, now],
            )
        };
        self.db.platform(KEYS).write(switch).await?;
        let mut rewrapped = 0;
        loop {
            let (store, to) = (self.wrapper(), to.to_owned());
            match self.db.platform(KEYS).write(move |tx| store.rewrap_batch(tx, &to)).await? {
                0 => return Ok(rewrapped),
                some => rewrapped += some,
            }
        }
    }

    fn wrapper(&self) -> KeyWrapper {
        KeyWrapper { masters: self.masters.clone(), random: self.random.clone() }
    }

    /// Destroys keys: what is sealed by them, here and in every copy, opens no more once older copies of this store are gone.
    pub(crate) async fn destroy(&self, tenant: TenantId, keys: Vec<DataKeyId>) -> Result<()> {
        let now = self.clock.now();
        let write = move |tx: &mut PlatformTx<'_>| {
            for id in keys {
                tx.execute(
                    across_tenants("DELETE FROM data_keys WHERE tenant_id = $1 AND id = $2"),
                    params![tenant, id],
                )?;
                tx.execute(
                    across_tenants(
                        "INSERT INTO destroyed_keys (tenant_id, id, destroyed_at) VALUES ($1, $2, $3)
                            ON CONFLICT (tenant_id, id) DO NOTHING",
                    ),
                    params![tenant, id, now],
                )?;
            }
            Ok::<_, Error>(())
        };
        self.db.platform(KEYS).write(write).await
    }

    /// Keys destroyed since then, by whichever node, and the time up to which this answer knows them.
    pub(crate) async fn destroyed_since(
        &self,
        since: Timestamp,
    ) -> Result<Vec<(TenantId, DataKeyId, Timestamp)>> {
        let read = move |tx: &mut PlatformTx<'_>| {
            tx.all(
                across_tenants(
                    "SELECT tenant_id, id, destroyed_at FROM destroyed_keys WHERE destroyed_at >= $1
                     ORDER BY destroyed_at LIMIT 1000",
                ),
                params![since],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
        };
        Ok(self.db.platform(KEYS).read(read).await?)
    }

    async fn unwrap_data_key(&mut self, tenant: TenantId, key: &WrappedKey) -> Result<SealKey> {
        let wrapping = self.tenant_key(tenant, key.number).await?;
        let opened = wrapping.open(&key.wrapped, &data_key_place(tenant, key.id, &key.kind))?;
        let tampered = || Error::Tampered { what: format!("the data key {} of tenant {tenant}", key.id) };
        opened.and_then(|bytes| SealKey::from_bytes(&bytes)).ok_or_else(tampered)
    }

    /// The tenant's key of a number.
    async fn tenant_key(&mut self, tenant: TenantId, number: i64) -> Result<Arc<SealKey>> {
        if let Some(key) = self.tenants.get(&(tenant, number)) {
            return Ok(key.clone());
        }
        let read = move |tx: &mut PlatformTx<'_>| {
            tx.optional(
                across_tenants(
                    "SELECT master_id, wrapped FROM tenant_keys WHERE tenant_id = $1 AND number = $2",
                ),
                params![tenant, number],
                |row| Ok((row.get::<String>(0)?, row.get::<Vec<u8>>(1)?)),
            )
        };
        let found = self.db.platform(KEYS).read(read).await.map_err(Error::Store)?;
        let Some((master, wrapped)) = found else {
            return Err(Error::Key(format!(
                "the key {number} of tenant {tenant} is missing from the store of keys"
            )));
        };
        let key = Arc::new(self.wrapper().unwrap(tenant, number, &master, &wrapped)?);
        self.tenants.insert((tenant, number), key.clone());
        Ok(key)
    }

    /// The tenant's key in use, made if it has none.
    async fn current_tenant_key(&mut self, tenant: TenantId) -> Result<(i64, Arc<SealKey>)> {
        if self.find_current_number(tenant).await?.is_none() {
            self.make_tenant_key(tenant, 1).await?;
        }
        let number = self.find_current_number(tenant).await?;
        let number =
            number.ok_or_else(|| Error::Key(format!("the keys of tenant {tenant} were destroyed")))?;
        Ok((number, self.tenant_key(tenant, number).await?))
    }

    async fn find_current_number(&self, tenant: TenantId) -> Result<Option<i64>> {
        let read = move |tx: &mut PlatformTx<'_>| {
            tx.optional(
                across_tenants(
                    "SELECT number FROM tenant_keys WHERE tenant_id = $1 ORDER BY number DESC LIMIT 1",
                ),
                params![tenant],
                |row| row.get(0),
            )
        };
        Ok(self.db.platform(KEYS).read(read).await?)
    }

    /// Makes a tenant's key of this number, unless another was quicker. The installation's current key is held meanwhile, so that
    /// nothing is wrapped by one that has just been retired.
    async fn make_tenant_key(&self, tenant: TenantId, number: i64) -> Result<()> {
        let (wrapper, now) = (self.wrapper(), self.clock.now());
        let write = move |tx: &mut PlatformTx<'_>| {
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
            Ok::<_, Error>(())
        };
        self.db.platform(KEYS).write(write).await
    }
}

/// What wraps tenants' keys, within a unit of work.
struct KeyWrapper {
    masters: Arc<MasterKeys>,
    random: Arc<dyn Random>,
}

impl KeyWrapper {
    fn unwrap(&self, tenant: TenantId, number: i64, master: &str, wrapped: &[u8]) -> Result<SealKey> {
        let key = self.masters.load(master, "the store of keys is")?;
        let opened = key.key.open(wrapped, &tenant_key_place(tenant, number, master))?;
        let tampered = || Error::Tampered { what: format!("the key {number} of tenant {tenant}") };
        opened.and_then(|bytes| SealKey::from_bytes(&bytes)).ok_or_else(tampered)
    }

    fn wrap(&self, tenant: TenantId, number: i64, master: &str, key: &SealKey) -> Result<Vec<u8>> {
        let place = tenant_key_place(tenant, number, master);
        let master = self.masters.load(master, "the store of keys is")?;
        master.key.seal(key.bytes(), &place, self.random.as_ref())
    }

    fn rewrap_batch(&self, tx: &mut PlatformTx<'_>, to: &str) -> Result<u64> {
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

fn find_slot(tx: &mut PlatformTx<'_>, slot: &str) -> Result<Option<String>> {
    Ok(tx.optional(
        across_tenants("SELECT master_id FROM key_masters WHERE slot = $1"),
        params![slot],
        |row| row.get(0),
    )?)
}

fn read_wrapped(row: &munshi_store::Row<'_>) -> munshi_store::Result<WrappedKey> {
    Ok(WrappedKey { id: row.get(0)?, kind: row.get(1)?, number: row.get(2)?, wrapped: row.get(3)? })
}

/// Every part has a fixed length but the last, so that no two places read alike.
fn tenant_key_place(tenant: TenantId, number: i64, master: &str) -> Vec<u8> {
    let tenant = tenant.as_uuid();
    [b"munshi tenant key\0", &tenant.as_bytes()[..], &number.to_be_bytes()[..], master.as_bytes()].concat()
}

fn data_key_place(tenant: TenantId, id: DataKeyId, kind: &str) -> Vec<u8> {
    let (tenant, id) = (tenant.as_uuid(), id.as_uuid());
    [b"munshi data key\0", &tenant.as_bytes()[..], &id.as_bytes()[..], kind.as_bytes()].concat()
}
