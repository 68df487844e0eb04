//! A node that can't reach the store of keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use munshi_keys::{DestroyedKey, KeySource, KeyWorker, OwnKey, Result, SealKey, StoredKey, WantedStore};
use munshi_store::{Error, KeyErasure, Keyring, SealedBy};
use munshi_test_support::on_both_engines;
use munshi_types::{DataKeyId, ErasureId, TenantId, Timestamp};

use crate::store::{Keys, WHERE, erasure, on_thread, tenant};

/// The way to a store of keys, which can be cut.
struct KeyLine {
    worker: KeyWorker,
    is_cut: Arc<AtomicBool>,
}

impl KeyLine {
    fn reach(&self) -> Result<&KeyWorker> {
        match self.is_cut.load(Ordering::SeqCst) {
            true => {
                let what = "the store of keys does not answer".to_owned();
                Err(Error::Unavailable { what, source: None }.into())
            }
            false => Ok(&self.worker),
        }
    }
}

impl KeySource for KeyLine {
    fn load(&self, tenant: TenantId, id: DataKeyId) -> Result<StoredKey> {
        self.reach()?.load(tenant, id)
    }

    fn load_all(&self, tenant: TenantId, ids: &[DataKeyId]) -> Result<Vec<(DataKeyId, StoredKey)>> {
        self.reach()?.load_all(tenant, ids)
    }

    fn load_or_create_own(&self, tenant: TenantId, which: OwnKey) -> Result<(DataKeyId, SealKey)> {
        self.reach()?.load_or_create_own(tenant, which)
    }

    fn make_person_keys(&self, tenant: TenantId, count: usize) -> Result<Vec<(DataKeyId, SealKey)>> {
        self.reach()?.make_person_keys(tenant, count)
    }

    fn destroy(&self, entry: &KeyErasure) -> Result<()> {
        self.reach()?.destroy(entry)
    }

    fn make_index_key(&self, tenant: TenantId) -> Result<(DataKeyId, SealKey)> {
        self.reach()?.make_index_key(tenant)
    }

    fn destroy_other_index_keys(&self, tenant: TenantId, kept: DataKeyId) -> Result<Vec<DataKeyId>> {
        self.reach()?.destroy_other_index_keys(tenant, kept)
    }

    fn list_erasures(&self, after: Option<(TenantId, ErasureId)>, limit: u32) -> Result<Vec<KeyErasure>> {
        self.reach()?.list_erasures(after, limit)
    }

    fn list_destroyed(&self, since: Timestamp) -> Result<Vec<DestroyedKey>> {
        self.reach()?.list_destroyed(since)
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_keys::MIGRATIONS];

    async fn a_node_out_of_touch_lets_go_of_every_persons_key(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let is_cut = Arc::new(AtomicBool::new(false));
        let line = KeyLine { worker: keys.worker(WantedStore::Any), is_cut: is_cut.clone() };
        let (node, other, clock) = (keys.node_with(line, 100), keys.node(), keys.clock.clone());
        on_thread(move || {
            let [gone, stays] = [(); 2].map(|()| node.take_new_key(tenant(1)).unwrap());
            let seal = |by| node.seal(tenant(1), by, WHERE, b"hello").unwrap();
            let [gone_text, text] = [gone, stays].map(|key| seal(SealedBy::Person(key)));
            let own = seal(SealedBy::Tenant);
            let open = |sealed: &[u8]| node.open(tenant(1), WHERE, sealed);
            // Long after it began, and it has just looked.
            clock.advance(Duration::from_secs(3600));
            node.drop_destroyed().unwrap();
            is_cut.store(true, Ordering::SeqCst);
            other.destroy_keys(&erasure(gone)).unwrap();
            let counted = node.count_destructions(tenant(1));
            clock.advance(Duration::from_secs(5 * 60));
            assert!(node.drop_destroyed().is_err());
            assert_eq!(open(&gone_text).unwrap(), b"hello", "a short outage is not noticed");
            assert_eq!(node.count_destructions(tenant(1)), counted);
            clock.advance(Duration::from_secs(1));
            assert!(node.drop_destroyed().is_err());
            for sealed in [&gone_text, &text] {
                let error = open(sealed).unwrap_err();
                assert!(matches!(error, Error::KeysUnavailable(_)), "{error}");
            }
            assert_eq!(open(&own).unwrap(), b"hello", "nobody destroys the tenant's");
            let out_of_touch = node.count_destructions(tenant(1));
            assert!(out_of_touch > counted, "what was opened is let go of too");
            is_cut.store(false, Ordering::SeqCst);
            let others = node.count_destructions(tenant(2));
            node.drop_destroyed().unwrap();
            assert!(node.count_destructions(tenant(1)) > out_of_touch, "another node has destroyed one");
            assert_eq!(node.count_destructions(tenant(2)), others, "none of this tenant's");
            assert_eq!(open(&text).unwrap(), b"hello");
            assert!(matches!(open(&gone_text), Err(Error::Forgotten(_))));
        })
        .await;
    }
}
