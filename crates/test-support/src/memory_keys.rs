//! Keys without a store of keys: the product's keyring, over keys that follow from their ids.
//!
//! So every process of a test opens what another of them has sealed, and nothing is left behind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use munshi_keys::{CachedKeyring, DestroyedKey, KeyKind, KeySource, OwnKey, Result, SealKey, StoredKey};
use munshi_store::{KeyErasure, Keyring};
use munshi_types::{DataKeyId, ErasureId, Id, IdGenerator, SystemClock, SystemRandom, TenantId, Timestamp};
use uuid::Uuid;

/// A keyring for the handles on the databases of tests. The ids name the keys of persons.
pub fn memory_keyring(ids: IdGenerator) -> Arc<dyn Keyring> {
    bounded_keyring(ids, 1000)
}

/// The same, which keeps so many keys in memory, and counts how often it asked for some.
pub fn bounded_keyring(ids: IdGenerator, most: usize) -> Arc<CachedKeyring> {
    Arc::new(build(KeysOf::new(ids), most))
}

/// A keyring whose store of keys is a copy from before a search index got the key that it has: it has the one before, and not this one.
pub fn older_keyring(
    ids: IdGenerator,
    tenant: TenantId,
    (before, key): (DataKeyId, DataKeyId),
) -> Arc<dyn Keyring> {
    let index_keys = Mutex::new(HashMap::from([((tenant, before), false)]));
    Arc::new(build(KeysOf { index_keys, lacking: Some(key), ..KeysOf::new(ids) }, 1000))
}

/// A keyring whose store of keys does not answer.
pub fn unreachable_keyring() -> Arc<dyn Keyring> {
    Arc::new(build(UnreachableKeys, 1000))
}

fn build(source: impl KeySource + 'static, most: usize) -> CachedKeyring {
    CachedKeyring::new(source, Arc::new(SystemClock), Arc::new(SystemRandom), most)
}

/// What ids of search indexes' keys end with, so that each process of a test tells them from persons'.
const INDEX_MARK: [u8; 6] = *b"index.";

struct UnreachableKeys;

impl UnreachableKeys {
    fn error() -> munshi_keys::Error {
        munshi_keys::Error::Key("the store of keys does not answer".to_owned())
    }
}

impl KeySource for UnreachableKeys {
    fn load(&self, _: TenantId, _: DataKeyId) -> Result<StoredKey> {
        Err(Self::error())
    }

    fn load_all(&self, _: TenantId, _: &[DataKeyId]) -> Result<Vec<(DataKeyId, StoredKey)>> {
        Err(Self::error())
    }

    fn load_or_create_own(&self, _: TenantId, _: OwnKey) -> Result<(DataKeyId, SealKey)> {
        Err(Self::error())
    }

    fn make_person_keys(&self, _: TenantId, _: usize) -> Result<Vec<(DataKeyId, SealKey)>> {
        Err(Self::error())
    }

    fn destroy(&self, _: &KeyErasure) -> Result<()> {
        Err(Self::error())
    }

    fn make_index_key(&self, _: TenantId) -> Result<(DataKeyId, SealKey)> {
        Err(Self::error())
    }

    fn destroy_other_index_keys(&self, _: TenantId, _: DataKeyId) -> Result<Vec<DataKeyId>> {
        Err(Self::error())
    }

    fn list_erasures(&self, _: Option<(TenantId, ErasureId)>, _: u32) -> Result<Vec<KeyErasure>> {
        Err(Self::error())
    }

    fn list_destroyed(&self, _: Timestamp) -> Result<Vec<DestroyedKey>> {
        Err(Self::error())
    }
}

struct KeysOf {
    ids: IdGenerator,
    /// What was destroyed in this process.
    erased: Mutex<Vec<KeyErasure>>,
    /// Of search indexes: those that were made, and of these the ones that were destroyed.
    index_keys: Mutex<HashMap<(TenantId, DataKeyId), bool>>,
    /// What it never had.
    lacking: Option<DataKeyId>,
}

impl KeysOf {
    fn new(ids: IdGenerator) -> Self {
        Self { ids, erased: Mutex::default(), index_keys: Mutex::default(), lacking: None }
    }

    fn find_kind(&self, tenant: TenantId, id: DataKeyId) -> Result<KeyKind> {
        if id.as_uuid().as_bytes().ends_with(&INDEX_MARK) {
            return Ok(KeyKind::Index);
        }
        for (which, kind) in [(OwnKey::Tenant, KeyKind::Tenant), (OwnKey::Hash, KeyKind::Hash)] {
            if self.load_or_create_own(tenant, which)?.0 == id {
                return Ok(kind);
            }
        }
        Ok(KeyKind::Person)
    }

    fn erased(&self) -> MutexGuard<'_, Vec<KeyErasure>> {
        self.erased.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_keys(&self) -> MutexGuard<'_, HashMap<(TenantId, DataKeyId), bool>> {
        self.index_keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeySource for KeysOf {
    fn load(&self, tenant: TenantId, id: DataKeyId) -> Result<StoredKey> {
        if self.lacking == Some(id) {
            return Ok(StoredKey::Unknown);
        }
        let is_gone = self.erased().iter().any(|entry| entry.tenant == tenant && entry.keys.contains(&id))
            || self.index_keys().get(&(tenant, id)) == Some(&true);
        match is_gone {
            true => Ok(StoredKey::Destroyed),
            false => Ok(StoredKey::Live(self.find_kind(tenant, id)?, derive(tenant, id))),
        }
    }

    fn load_all(&self, tenant: TenantId, ids: &[DataKeyId]) -> Result<Vec<(DataKeyId, StoredKey)>> {
        ids.iter().map(|id| Ok((*id, self.load(tenant, *id)?))).collect()
    }

    fn load_or_create_own(&self, tenant: TenantId, which: OwnKey) -> Result<(DataKeyId, SealKey)> {
        let name: &[u8] = match which {
            OwnKey::Tenant => b"tenant",
            OwnKey::Hash => b"hash",
        };
        let named = root().hash(&[tenant.as_uuid().as_bytes(), name]);
        let id = DataKeyId::from_uuid(Uuid::from_slice(&named[..16]).unwrap());
        Ok((id, derive(tenant, id)))
    }

    fn make_person_keys(&self, tenant: TenantId, count: usize) -> Result<Vec<(DataKeyId, SealKey)>> {
        let made = (0..count).map(|_| self.ids.next());
        Ok(made.map(|id| (id, derive(tenant, id))).collect())
    }

    fn destroy(&self, entry: &KeyErasure) -> Result<()> {
        for which in [OwnKey::Tenant, OwnKey::Hash] {
            if entry.keys.contains(&self.load_or_create_own(entry.tenant, which)?.0) {
                let what = format!("erasure {} names a key that is no person's", entry.id);
                return Err(munshi_store::Error::ErasureRefused(what).into());
            }
        }
        let mut erased = self.erased();
        if erased.iter().all(|known| known.id != entry.id) {
            erased.push(entry.clone());
        }
        Ok(())
    }

    fn make_index_key(&self, tenant: TenantId) -> Result<(DataKeyId, SealKey)> {
        let mut bytes = self.ids.next::<DataKeyId>().as_uuid().into_bytes();
        bytes[10..].copy_from_slice(&INDEX_MARK);
        let id = DataKeyId::from_uuid(Uuid::from_bytes(bytes));
        self.index_keys().insert((tenant, id), false);
        Ok((id, derive(tenant, id)))
    }

    fn destroy_other_index_keys(&self, tenant: TenantId, kept: DataKeyId) -> Result<Vec<DataKeyId>> {
        let mut keys = self.index_keys();
        let is_other = |(of, id): &(TenantId, DataKeyId)| *of == tenant && *id != kept;
        let others = keys.iter_mut().filter(|(key, is_gone)| is_other(key) && !**is_gone);
        Ok(others
            .map(|((_, id), is_gone)| {
                *is_gone = true;
                *id
            })
            .collect())
    }

    fn list_erasures(&self, after: Option<(TenantId, ErasureId)>, limit: u32) -> Result<Vec<KeyErasure>> {
        let mut found = self.erased().clone();
        found.sort_by_key(|entry| (entry.tenant, entry.id));
        found.retain(|entry| after.is_none_or(|after| (entry.tenant, entry.id) > after));
        found.truncate(limit as usize);
        Ok(found)
    }

    fn list_destroyed(&self, _: Timestamp) -> Result<Vec<DestroyedKey>> {
        let gone = |entry: &KeyErasure, id| DestroyedKey { tenant: entry.tenant, id, at: Timestamp::EPOCH };
        Ok(self.erased().iter().flat_map(|entry| entry.keys.iter().map(|id| gone(entry, *id))).collect())
    }
}

fn root() -> SealKey {
    SealKey::from_bytes(&[7; 32]).unwrap()
}

fn derive(tenant: TenantId, id: DataKeyId) -> SealKey {
    let bytes = root().hash(&[tenant.as_uuid().as_bytes(), id.as_uuid().as_bytes()]);
    SealKey::from_bytes(&bytes).unwrap()
}
