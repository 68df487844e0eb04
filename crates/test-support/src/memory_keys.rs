//! Keys that go with the test: the product's keyring, over a map instead of the store of keys.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use munshi_keys::{CachedKeyring, KeySource, OwnKey, Result, SealKey, StoredKey};
use munshi_store::Keyring;
use munshi_types::{DataKeyId, IdGenerator, SystemRandom, TenantId};

#[derive(Default)]
struct MemoryKeys {
    keys: Mutex<HashMap<(TenantId, DataKeyId), SealKey>>,
    own: Mutex<HashMap<(TenantId, OwnKey), DataKeyId>>,
}

/// A keyring over keys of its own, for the handles on one database.
pub fn memory_keyring(ids: IdGenerator) -> Arc<dyn Keyring> {
    let source = KeysOf(MemoryKeys::default(), ids);
    Arc::new(CachedKeyring::new(source, Arc::new(SystemRandom), 1000))
}

struct KeysOf(MemoryKeys, IdGenerator);

impl KeysOf {
    fn make(&self, tenant: TenantId) -> (DataKeyId, SealKey) {
        let (id, key) = (self.1.next(), SealKey::random(&SystemRandom));
        self.0.keys.lock().unwrap().insert((tenant, id), copy(&key));
        (id, key)
    }
}

impl KeySource for KeysOf {
    fn load(&self, tenant: TenantId, id: DataKeyId) -> Result<StoredKey> {
        let keys = self.0.keys.lock().unwrap();
        Ok(keys.get(&(tenant, id)).map_or(StoredKey::Unknown, |key| StoredKey::Live(copy(key))))
    }

    fn load_or_create_own(&self, tenant: TenantId, which: OwnKey) -> Result<(DataKeyId, SealKey)> {
        let mut own = self.0.own.lock().unwrap();
        let id = *own.entry((tenant, which)).or_insert_with(|| self.make(tenant).0);
        let keys = self.0.keys.lock().unwrap();
        Ok((id, copy(&keys[&(tenant, id)])))
    }

    fn make_person_keys(&self, tenant: TenantId, count: usize) -> Result<Vec<(DataKeyId, SealKey)>> {
        Ok((0..count).map(|_| self.make(tenant)).collect())
    }
}

fn copy(key: &SealKey) -> SealKey {
    SealKey::from_bytes(key.bytes()).unwrap()
}
