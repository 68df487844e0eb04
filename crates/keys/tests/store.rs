use std::path::PathBuf;
use std::sync::Arc;

use munshi_keys::{
    CachedKeyring, KEY_STORE_MIGRATIONS, KeySource, KeyStorePlace, KeyWorker, MasterKeySource, MasterKeys,
    WantedStore, bind_store, find_store,
};
use munshi_store::{DatabaseAddress, Db, Error, KeyErasure, Keyring, Migrations, SealedBy, StoreOptions};
use munshi_test_support::database::TestDbStorage;
use munshi_test_support::{DatabaseEngine, on_both_engines};
use munshi_types::{DataKeyId, ErasureId, FakeClock, Id, SystemRandom, TenantId, Timestamp};
use serde_json::json;
use uuid::Uuid;

pub(crate) const WHERE: &[u8] = b"messages\0text\0here";

/// A store of keys of a test, and nodes that share it.
pub(crate) struct Keys {
    pub(crate) address: DatabaseAddress,
    key_file: PathBuf,
    pub(crate) clock: Arc<FakeClock>,
    storage: TestDbStorage,
}

impl Keys {
    pub(crate) async fn new(engine: DatabaseEngine) -> Self {
        let (address, storage) =
            tokio::task::spawn_blocking(move || TestDbStorage::create(engine)).await.unwrap();
        let key_file = storage.folder().join("vault.key");
        let clock = Arc::new(FakeClock::new(Timestamp::from_micros(1_800_000_000_000_000)));
        Self { address, key_file, clock, storage }
    }

    fn unbound(&self) -> KeyWorker {
        let place = KeyStorePlace {
            address: self.address.clone(),
            owner: None,
            options: StoreOptions { connections: 2, readers: 1, ..StoreOptions::default() },
        };
        let masters = Arc::new(MasterKeys::new(MasterKeySource::File(self.key_file.clone())));
        KeyWorker::new(place, masters, self.clock.clone(), Arc::new(SystemRandom))
    }

    pub(crate) fn worker(&self, wanted: WantedStore) -> KeyWorker {
        let worker = self.unbound();
        worker.set_wanted(wanted);
        worker
    }

    /// The installation's keys.
    pub(crate) fn masters(&self) -> MasterKeySource {
        MasterKeySource::File(self.key_file.clone())
    }

    /// The folder with everything of it.
    pub(crate) fn folder(&self) -> PathBuf {
        self.storage.folder()
    }

    /// The database itself, beside the nodes.
    pub(crate) async fn open_database(&self) -> Db {
        let options = StoreOptions { connections: 1, readers: 1, ..StoreOptions::default() };
        let migrations = Migrations::new(&[KEY_STORE_MIGRATIONS]).unwrap();
        Db::open(&self.address, &options, &migrations).await.unwrap()
    }

    pub(crate) fn node(&self) -> CachedKeyring {
        self.node_with(self.worker(WantedStore::Any), 100)
    }

    /// The same with keys from elsewhere, so many of which it keeps.
    pub(crate) fn node_with(&self, source: impl KeySource + 'static, most: usize) -> CachedKeyring {
        CachedKeyring::new(source, self.clock.clone(), Arc::new(SystemRandom), most)
    }
}

pub(crate) fn tenant(number: u128) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn erasure(key: DataKeyId) -> KeyErasure {
    let id = ErasureId::from_uuid(key.as_uuid());
    KeyErasure { tenant: tenant(1), id, keys: vec![key], body: json!({}) }
}

/// The keyring waits for its thread, which a task of the test's runtime may not.
pub(crate) async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_keys::MIGRATIONS];

    async fn what_one_node_seals_another_opens_for_its_own_place_and_tenant(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (one, other) = (keys.node(), keys.node());
        on_thread(move || {
            let person = SealedBy::Person(one.take_new_key(tenant(1)).unwrap());
            for by in [person, SealedBy::Tenant] {
                let sealed = one.seal(tenant(1), by, WHERE, b"Ramesh owes 500").unwrap();
                assert!(!sealed.windows(6).any(|part| part == b"Ramesh"));
                assert_eq!(other.open(tenant(1), WHERE, &sealed).unwrap(), b"Ramesh owes 500");
                let elsewhere = other.open(tenant(1), b"messages\0text\0there", &sealed).unwrap_err();
                assert!(matches!(elsewhere, Error::Decode(_)), "{elsewhere}");
                assert!(other.open(tenant(2), WHERE, &sealed).is_err());
            }
            assert_eq!(one.hash(tenant(1), "phone", b"+91").unwrap(), other.hash(tenant(1), "phone", b"+91").unwrap());
            assert_ne!(one.hash(tenant(1), "phone", b"+91").unwrap(), one.hash(tenant(2), "phone", b"+91").unwrap());
            assert_ne!(one.hash(tenant(1), "phone", b"+91").unwrap(), one.hash(tenant(1), "email", b"+91").unwrap());
        })
        .await;
    }

    async fn a_hash_within_a_key_is_that_keys_alone(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (one, other) = (keys.node(), keys.node());
        let person = on_thread(move || {
            let [ravi, sita] = [(); 2].map(|()| SealedBy::Person(one.take_new_key(tenant(1)).unwrap()));
            let hash = |by, purpose, value: &[u8]| one.hash_by(tenant(1), by, purpose, value).unwrap();
            let known = hash(ravi, "file", b"bill");
            assert_eq!(known, other.hash_by(tenant(1), ravi, "file", b"bill").unwrap(), "on every node");
            for different in [
                hash(sita, "file", b"bill"),
                hash(SealedBy::Tenant, "file", b"bill"),
                hash(ravi, "note", b"bill"),
                hash(ravi, "file", b"bills"),
                one.hash(tenant(1), "file", b"bill").unwrap(),
            ] {
                assert_ne!(known, different);
            }
            ravi
        })
        .await;
        let SealedBy::Person(key) = person else { unreachable!() };
        let (destroyer, entry) = (keys.node(), erasure(key));
        on_thread(move || destroyer.destroy_keys(&entry)).await.unwrap();
        let fresh = keys.node();
        let guess = on_thread(move || fresh.hash_by(tenant(1), person, "file", b"bill")).await;
        assert!(matches!(guess, Err(Error::Forgotten(_))), "{guess:?}");
    }

    async fn an_index_keeps_one_key_and_no_other_is_destroyed_with_the_rest(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (one, other, fresh) = (keys.node(), keys.node(), keys.node());
        on_thread(move || {
            // One of them for an index that was not begun after all.
            let [key, unused, next] = [(); 3].map(|()| one.make_index_key(tenant(1)).unwrap());
            let theirs = one.make_index_key(tenant(2)).unwrap();
            let person = one.take_new_key(tenant(1)).unwrap();
            let hash = |node: &CachedKeyring, key| node.hash_by_index_key(tenant(1), key, "word", b"atta");
            assert_eq!(hash(&one, key).unwrap(), hash(&other, key).unwrap());
            assert_ne!(hash(&one, key).unwrap(), hash(&one, next).unwrap());
            let refused = one.destroy_keys(&erasure(key)).unwrap_err();
            assert!(matches!(refused, Error::ErasureRefused(_)), "{refused}");
            for _ in 0..2 {
                one.destroy_other_index_keys(tenant(1), next).unwrap();
            }
            other.drop_destroyed().unwrap();
            for node in [&one, &other, &fresh] {
                for gone in [key, unused] {
                    assert!(matches!(hash(node, gone), Err(Error::Forgotten(_))), "{:?}", hash(node, gone));
                }
                assert!(hash(node, next).is_ok());
                assert!(node.hash_by_index_key(tenant(2), theirs, "word", b"atta").is_ok());
                assert!(node.hash_by(tenant(1), SealedBy::Person(person), "file", b"bill").is_ok());
            }
            assert_eq!(one.list_erasures(None, 9).unwrap(), []);
        })
        .await;
    }

    async fn a_key_is_used_for_nothing_but_its_kind(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (one, fresh) = (keys.node(), keys.node());
        on_thread(move || {
            let (person, index) = (one.take_new_key(tenant(1)).unwrap(), one.make_index_key(tenant(1)).unwrap());
            let sealed = one.seal(tenant(1), SealedBy::Tenant, WHERE, b"hello").unwrap();
            let own = DataKeyId::from_uuid(Uuid::from_slice(&sealed[..16]).unwrap());
            for node in [&one, &fresh] {
                for by in [index, own].map(SealedBy::Person) {
                    let sealed = node.seal(tenant(1), by, WHERE, b"hello");
                    assert!(matches!(sealed, Err(Error::Decode(_))), "nobody's end would end it: {sealed:?}");
                    assert!(matches!(node.hash_by(tenant(1), by, "file", b"bill"), Err(Error::Decode(_))));
                }
                for key in [person, own] {
                    let hashed = node.hash_by_index_key(tenant(1), key, "word", b"atta");
                    assert!(matches!(hashed, Err(Error::UnknownKey(_))), "{hashed:?}");
                }
                assert!(node.seal(tenant(1), SealedBy::Person(person), WHERE, b"hello").is_ok());
                assert!(node.hash_by_index_key(tenant(1), index, "word", b"atta").is_ok());
                assert_eq!(node.open(tenant(1), WHERE, &sealed).unwrap(), b"hello");
            }
        })
        .await;
    }

    async fn no_key_is_given_twice(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (one, other) = (Arc::new(keys.node()), Arc::new(keys.node()));
        let mut takers = Vec::new();
        for node in [&one, &other, &one, &other] {
            let node = node.clone();
            takers.push(on_thread(move || {
                (0..50).map(|_| node.take_new_key(tenant(1)).unwrap()).collect::<Vec<DataKeyId>>()
            }));
        }
        let mut taken: Vec<DataKeyId> = Vec::new();
        for taker in takers {
            taken.extend(taker.await);
        }
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), 200);
    }

    async fn what_a_destroyed_key_sealed_is_forgotten_everywhere(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (one, other, fresh) = (keys.node(), keys.node(), keys.node());
        on_thread(move || {
            let key = one.take_new_key(tenant(1)).unwrap();
            let by = SealedBy::Person(key);
            let sealed = one.seal(tenant(1), by, WHERE, b"hello").unwrap();
            assert_eq!(other.open(tenant(1), WHERE, &sealed).unwrap(), b"hello");
            // Twice, as after a crash.
            one.destroy_keys(&erasure(key)).unwrap();
            one.destroy_keys(&erasure(key)).unwrap();
            // Another node has it in memory, until it looks.
            assert_eq!(other.open(tenant(1), WHERE, &sealed).unwrap(), b"hello");
            let counted = |tenant| [&one, &other].map(|node| node.count_destructions(tenant) > 0);
            assert_eq!(counted(tenant(1)), [true, false]);
            assert_eq!((other.drop_destroyed().unwrap(), other.drop_destroyed().unwrap()), (1, 0));
            assert_eq!((counted(tenant(1)), counted(tenant(2))), ([true, true], [false, false]));
            for node in [&one, &other, &fresh] {
                let error = node.open(tenant(1), WHERE, &sealed).unwrap_err();
                assert!(matches!(&error, Error::Forgotten(what) if what == "messages.text"), "{error}");
                assert!(matches!(node.seal(tenant(1), by, WHERE, b"again"), Err(Error::Forgotten(_))));
            }
        })
        .await;
    }

    async fn a_key_of_the_tenants_own_is_never_destroyed(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (one, fresh) = (keys.node(), keys.node());
        on_thread(move || {
            let person = one.take_new_key(tenant(1)).unwrap();
            let theirs = one.seal(tenant(1), SealedBy::Person(person), WHERE, b"hello").unwrap();
            let own = one.seal(tenant(1), SealedBy::Tenant, WHERE, b"hello").unwrap();
            let own_key = DataKeyId::from_uuid(Uuid::from_slice(&own[..16]).unwrap());
            let entry = KeyErasure { keys: vec![person, own_key], ..erasure(person) };
            let error = one.destroy_keys(&entry).unwrap_err();
            assert!(matches!(&error, Error::ErasureRefused(what) if what.contains("no person's")), "{error}");
            for sealed in [&theirs, &own] {
                assert_eq!(fresh.open(tenant(1), WHERE, sealed).unwrap(), b"hello", "nor is the other key");
            }
            assert!(fresh.list_erasures(None, 10).unwrap().is_empty() && fresh.drop_destroyed().unwrap() == 0);
        })
        .await;
    }

    async fn what_keys_were_destroyed_for_is_told_in_order(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let node = keys.node();
        on_thread(move || {
            let mut expected = Vec::new();
            for number in 0..5_u128 {
                let key = node.take_new_key(tenant(number % 2)).unwrap();
                let id = ErasureId::from_uuid(Uuid::from_u128(number + 1));
                let body = json!({ "persons": [key] });
                let entry = KeyErasure { tenant: tenant(number % 2), id, keys: vec![key], body };
                node.destroy_keys(&entry).unwrap();
                expected.push(KeyErasure { keys: Vec::new(), ..entry });
            }
            expected.sort_by_key(|entry| (entry.tenant, entry.id));
            let (mut told, mut after) = (Vec::new(), None);
            loop {
                let page = node.list_erasures(after, 2).unwrap();
                let Some(last) = page.last() else { break };
                after = Some((last.tenant, last.id));
                told.extend(page);
            }
            assert_eq!(told, expected);
        })
        .await;
    }

    async fn many_keys_are_fetched_in_one_request(test: TestDb) {
        const MANY: usize = 1200;
        let keys = Keys::new(test.engine()).await;
        let one = keys.node();
        let (taken, sealed) = on_thread(move || {
            let taken: Vec<DataKeyId> = (0..MANY).map(|_| one.take_new_key(tenant(1)).unwrap()).collect();
            let seal = |key: &DataKeyId| one.seal(tenant(1), SealedBy::Person(*key), WHERE, b"hello").unwrap();
            let sealed: Vec<Vec<u8>> = taken.iter().map(seal).collect();
            (taken, sealed)
        })
        .await;
        let (destroyer, entry) = (keys.node(), erasure(taken[7]));
        on_thread(move || destroyer.destroy_keys(&entry)).await.unwrap();
        let fresh = keys.node_with(keys.worker(WantedStore::Any), 2 * MANY);
        on_thread(move || {
            assert_eq!(fresh.prefetch_limit(), MANY);
            fresh.prefetch_keys(tenant(1), &taken).unwrap();
            for (number, sealed) in sealed.iter().enumerate() {
                match fresh.open(tenant(1), WHERE, sealed) {
                    Err(Error::Forgotten(_)) => assert_eq!(number, 7),
                    opened => assert_eq!(opened.unwrap(), b"hello"),
                }
            }
            fresh.prefetch_keys(tenant(1), &taken).unwrap();
            assert_eq!(fresh.misses(), 1, "of a destroyed key it is known that it is");
            let unknown = DataKeyId::from_uuid(Uuid::from_u128(9));
            fresh.prefetch_keys(tenant(1), &[unknown]).unwrap();
            let by = SealedBy::Person(unknown);
            assert!(matches!(fresh.seal(tenant(1), by, WHERE, b"hello"), Err(Error::UnknownKey(_))));
        })
        .await;
    }

    async fn a_key_of_another_store_is_told_from_a_destroyed_one(test: TestDb) {
        let (ours, theirs) = (Keys::new(test.engine()).await, Keys::new(test.engine()).await);
        let (one, other) = (ours.node(), theirs.node());
        let error = on_thread(move || {
            let key = SealedBy::Person(one.take_new_key(tenant(1)).unwrap());
            let sealed = one.seal(tenant(1), key, WHERE, b"hello").unwrap();
            other.open(tenant(1), WHERE, &sealed).unwrap_err()
        })
        .await;
        assert!(matches!(&error, Error::UnknownKey(what) if what.contains("has no key")), "{error}");
        assert!(error.is_outage() && error.is_retryable(), "what was written waits for the right store");
    }

    async fn an_empty_store_does_not_take_the_place_of_a_known_one(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let error = keys.worker(WantedStore::Known(Uuid::from_u128(7))).store_id().await.unwrap_err().to_string();
        assert!(error.contains("keys"), "{error}");
        assert!(!keys.key_file.exists(), "no key of the installation is made in passing");
        let worker = keys.worker(WantedStore::Any);
        let node = keys.node_with(worker.clone(), 100);
        let key = on_thread(move || node.take_new_key(tenant(1)).unwrap()).await;
        assert!(worker.knows(tenant(1), key).await.unwrap());
        assert!(!worker.knows(tenant(2), key).await.unwrap());
    }

    async fn a_database_keeps_to_the_store_it_began_with(test: TestDb) {
        let (first, other) = (Keys::new(test.engine()).await, Keys::new(test.engine()).await);
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        assert_eq!(find_store(&test.db).await.unwrap(), None);
        let unbound = first.unbound();
        let error = unbound.store_id().await.unwrap_err().to_string();
        assert!(error.contains("main database was not opened"), "{error}");
        bind_store(&test.db, &first.unbound(), now).await.unwrap();
        let again = first.unbound();
        bind_store(&test.db, &again, now).await.unwrap();
        assert_eq!(Some(again.store_id().await.unwrap()), find_store(&test.db).await.unwrap());
        // A node with a store of its own is told so, and writes nothing.
        let stranger = other.unbound();
        bind_store(&test.db, &stranger, now).await.unwrap();
        let error = stranger.store_id().await.unwrap_err().to_string();
        assert!(error.contains("keys.url"), "{error}");
    }

    async fn another_key_of_the_installation_takes_over(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let one = Arc::new(keys.node());
        let node = one.clone();
        let sealed = on_thread(move || {
            let person = SealedBy::Person(node.take_new_key(tenant(1)).unwrap());
            node.seal(tenant(1), person, WHERE, b"hello").unwrap()
        })
        .await;
        let source = keys.masters();
        let before = source.load().unwrap()[0].id.clone();
        let next = source.load_or_create_next(&SystemRandom).unwrap().id.clone();
        let worker = keys.worker(WantedStore::Any);
        assert_eq!(worker.rotate_master(&next).await.unwrap(), 1);
        assert_eq!(worker.rotate_master(&next).await.unwrap(), 0, "it may be run again");
        source.promote_next(&before).unwrap();
        // A copy from before a rotation is opened by the key that was retired.
        assert!(source.load().unwrap().iter().any(|key| key.id == before));
        std::fs::remove_file(keys.key_file.with_file_name(format!("vault.key.retired-{before}"))).unwrap();
        let fresh = keys.node();
        on_thread(move || {
            for node in [&*one, &fresh] {
                assert_eq!(node.open(tenant(1), WHERE, &sealed).unwrap(), b"hello");
                node.take_new_key(tenant(2)).unwrap();
            }
        })
        .await;
    }

    async fn without_the_installations_key_nothing_opens(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        keys.worker(WantedStore::Any).store_id().await.unwrap();
        std::fs::remove_file(&keys.key_file).unwrap();
        let error = keys.worker(WantedStore::Any).store_id().await.unwrap_err().to_string();
        assert!(error.contains("vault.key is missing") && error.contains("the store of keys is encrypted"), "{error}");
    }
}

#[tokio::test]
async fn a_missing_store_is_not_made_where_something_is_sealed() {
    let keys = Keys::new(DatabaseEngine::Sqlite).await;
    let known = WantedStore::Known(Uuid::from_u128(7));
    let error = keys.worker(known).store_id().await.unwrap_err().to_string();
    assert!(error.contains("is missing") && error.contains("put it back from your copy"), "{error}");
    let made = keys.worker(WantedStore::Any).store_id().await.unwrap();
    assert_eq!(
        keys.worker(WantedStore::Known(made)).store_id().await.unwrap(),
        made,
        "it stays the same store"
    );
    let error = keys.worker(known).store_id().await.unwrap_err().to_string();
    assert!(error.contains("is not the store of keys that this database's text"), "{error}");
}
