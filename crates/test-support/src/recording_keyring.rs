//! A keyring that remembers what it sealed: so a test sees whatever was written to a sealed column, also for a moment. It can be away for a
//! while, and it counts what it opened.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use munshi_store::{Error, KeyErasure, Keyring, Result, SealedBy};
use munshi_types::{DataKeyId, ErasureId, TenantId};
use uuid::Uuid;

/// Seals as another does.
pub struct RecordingKeyring {
    inner: Arc<dyn Keyring>,
    sealed: Mutex<Vec<Vec<u8>>>,
    opened: AtomicUsize,
    /// How often it will still say that the store of keys is away.
    failing: AtomicUsize,
}

impl RecordingKeyring {
    pub fn new(inner: Arc<dyn Keyring>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            sealed: Mutex::default(),
            opened: AtomicUsize::new(0),
            failing: AtomicUsize::new(0),
        })
    }

    /// As if the store of keys were away for the next so many values.
    pub fn fail_next(&self, count: usize) {
        self.failing.store(count, Ordering::SeqCst);
    }

    /// How many values were opened since the last time it was asked.
    pub fn take_opened(&self) -> usize {
        self.opened.swap(0, Ordering::SeqCst)
    }

    /// Everything that was sealed so far, as it was before.
    pub fn sealed(&self) -> Vec<String> {
        let sealed = self.sealed.lock().unwrap_or_else(PoisonError::into_inner);
        sealed.iter().map(|plain| String::from_utf8_lossy(plain).into_owned()).collect()
    }
}

impl fmt::Debug for RecordingKeyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingKeyring").finish_non_exhaustive()
    }
}

impl Keyring for RecordingKeyring {
    fn seal(&self, tenant: TenantId, by: SealedBy, context: &[u8], plain: &[u8]) -> Result<Vec<u8>> {
        let less = |left: usize| left.checked_sub(1);
        if self.failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
            return Err(Error::KeysUnavailable("the store of keys is away".to_owned()));
        }
        self.sealed.lock().unwrap_or_else(PoisonError::into_inner).push(plain.to_vec());
        self.inner.seal(tenant, by, context, plain)
    }

    fn open(&self, tenant: TenantId, context: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        self.inner.open(tenant, context, sealed)
    }

    fn hash(&self, tenant: TenantId, purpose: &str, value: &[u8]) -> Result<[u8; 32]> {
        self.inner.hash(tenant, purpose, value)
    }

    fn hash_by(&self, tenant: TenantId, by: SealedBy, purpose: &str, value: &[u8]) -> Result<[u8; 32]> {
        self.inner.hash_by(tenant, by, purpose, value)
    }

    fn hash_by_index_key(
        &self,
        tenant: TenantId,
        key: DataKeyId,
        purpose: &str,
        value: &[u8],
    ) -> Result<[u8; 32]> {
        self.inner.hash_by_index_key(tenant, key, purpose, value)
    }

    fn take_new_key(&self, tenant: TenantId) -> Result<DataKeyId> {
        self.inner.take_new_key(tenant)
    }

    fn find_known_key(&self, tenant: TenantId, owner: Uuid) -> Option<DataKeyId> {
        self.inner.find_known_key(tenant, owner)
    }

    fn remember_key(&self, tenant: TenantId, owner: Uuid, key: DataKeyId) {
        self.inner.remember_key(tenant, owner, key);
    }

    fn destroy_keys(&self, entry: &KeyErasure) -> Result<()> {
        self.inner.destroy_keys(entry)
    }

    fn make_index_key(&self, tenant: TenantId) -> Result<DataKeyId> {
        self.inner.make_index_key(tenant)
    }

    fn destroy_other_index_keys(&self, tenant: TenantId, kept: DataKeyId) -> Result<()> {
        self.inner.destroy_other_index_keys(tenant, kept)
    }

    fn list_erasures(&self, after: Option<(TenantId, ErasureId)>, limit: u32) -> Result<Vec<KeyErasure>> {
        self.inner.list_erasures(after, limit)
    }

    fn drop_destroyed(&self) -> Result<usize> {
        self.inner.drop_destroyed()
    }

    fn count_destructions(&self, tenant: TenantId) -> u64 {
        self.inner.count_destructions(tenant)
    }

    fn prefetch_keys(&self, tenant: TenantId, keys: &[DataKeyId]) -> Result<()> {
        self.inner.prefetch_keys(tenant, keys)
    }

    fn prefetch_limit(&self) -> usize {
        self.inner.prefetch_limit()
    }
}
