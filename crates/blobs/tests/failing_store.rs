//! A store that does not do its part, or does it and says otherwise.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use munshi_blobs::storage::{BlobStore, DiskStore, SealedStream};
use munshi_blobs::{
    BlobLimits, BlobObject, BlobService, BlobVariant, Error, PERSONAL_DATA, Result, SpooledFile, SweepReport,
    load_usage,
};
use munshi_identity::persons;
use munshi_store::{Db, Tx, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{BlobId, Clock, PersonId, TenantId, Timestamp};
use uuid::Uuid;

use crate::support::{Shop, text};

/// A folder, and what goes wrong with it.
#[derive(Debug)]
struct FailingStore {
    disk: DiskStore,
    db: Db,
    now: Timestamp,
    faults: Mutex<StoreFaults>,
}

#[derive(Clone, Debug, Default)]
struct StoreFaults {
    /// Said when the bytes are there.
    after_put: Option<Error>,
    /// Somebody has seen the bytes and made their row visible.
    publishes: bool,
    undeletable: Option<BlobId>,
    /// Whoever gives the file is forgotten, and all is swept, before its bytes are there.
    forgets: Option<(BlobService, PersonId)>,
}

impl FailingStore {
    fn set(&self, faults: StoreFaults) {
        *self.faults.lock().unwrap() = faults;
    }

    async fn forget(&self, tenant: TenantId, person: PersonId) -> Result<()> {
        let now = self.now;
        let forget = move |tx: &mut Tx<'_>| {
            persons::detach(tx, person, now)?;
            let found = (PERSONAL_DATA[0].list_next)(tx, person, Uuid::nil(), 10)?;
            assert_eq!((PERSONAL_DATA[0].erase)(tx, &found)?, 1);
            assert_eq!((PERSONAL_DATA[0].erase)(tx, &found)?, 0, "once");
            Ok(())
        };
        self.db.write(tenant, forget).await
    }

    fn faults(&self) -> StoreFaults {
        self.faults.lock().unwrap().clone()
    }
}

#[async_trait]
impl BlobStore for FailingStore {
    async fn put(&self, object: BlobObject, file: SpooledFile) -> Result<()> {
        let faults = self.faults();
        if let Some((files, person)) = &faults.forgets {
            self.forget(object.tenant, *person).await?;
            files.sweep(object.tenant).await?;
        }
        self.disk.put(object, file).await?;
        if faults.publishes {
            let sql = "UPDATE blobs SET state = 'ready' WHERE tenant_id = $1 AND id = $2";
            self.db.write(object.tenant, move |tx| tx.execute(sql, params![object.blob])).await?;
        }
        faults.after_put.map_or(Ok(()), Err)
    }

    async fn get(&self, object: BlobObject) -> Result<Option<SealedStream>> {
        self.disk.get(object).await
    }

    async fn has(&self, object: BlobObject) -> Result<bool> {
        self.disk.has(object).await
    }

    async fn delete(&self, object: BlobObject) -> Result<()> {
        match self.faults().undeletable {
            Some(blob) if blob == object.blob => Err(Error::Storage("held".to_owned())),
            _ => self.disk.delete(object).await,
        }
    }
}

async fn open(test: TestDb) -> (Shop, Arc<FailingStore>) {
    let store = Arc::new(FailingStore {
        disk: DiskStore::new(test.place.folder().join("blobs")),
        db: test.db.clone(),
        now: test.clock.now(),
        faults: Mutex::default(),
    });
    (Shop::with_store(test, BlobLimits::default(), store.clone()).await, store)
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];

    async fn a_file_that_is_ready_keeps_its_bytes_whatever_its_writer_was_told(test: TestDb) {
        let (shop, store) = open(test).await;
        let after_put = Some(Error::Storage("who knows".to_owned()));
        store.set(StoreFaults { after_put, publishes: true, ..StoreFaults::default() });
        let outcome = shop.upload(shop.ravi, b"a note").await;
        assert!(matches!(outcome, Err(Error::Storage(_))), "{outcome:?}");
        let ready: BlobId = shop.test.db.read(shop.tenant, |tx| {
            tx.one("SELECT id FROM blobs WHERE tenant_id = $1 AND state = 'ready'", params![], |row| row.get(0))
        }).await.unwrap();
        assert_eq!(shop.read(ready, BlobVariant::Original).await.unwrap(), b"a note");
    }

    async fn what_a_store_failed_to_take_goes_at_once_and_what_it_may_yet_take_with_the_sweep(test: TestDb) {
        let (shop, store) = open(test).await;
        let told = |after_put| StoreFaults { after_put: Some(after_put), ..StoreFaults::default() };
        store.set(told(Error::Storage("no".to_owned())));
        shop.upload(shop.ravi, b"a note").await.unwrap_err();
        assert!(shop.stored().is_empty());
        assert_eq!(shop.test.db.read(shop.tenant, load_usage).await.unwrap().files, 0);
        store.set(told(Error::StorageTimeout("30 s".to_owned())));
        let late = shop.upload(shop.ravi, b"a note").await.unwrap_err();
        assert!(late.is_transient(), "{late}");
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport::default());
        assert_eq!(shop.stored().len(), 1);
        shop.test.clock.advance(Duration::from_secs(3601));
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport { expired: 0, removed: 1 });
        assert!(shop.stored().is_empty());
    }

    async fn a_file_of_somebody_forgotten_is_removed_by_its_writer(test: TestDb) {
        let (shop, store) = open(test).await;
        store.set(StoreFaults { forgets: Some((shop.files.clone(), shop.ravi)), ..StoreFaults::default() });
        let outcome = shop.upload(shop.ravi, b"a note").await;
        store.set(StoreFaults::default());
        assert!(outcome.is_err(), "{outcome:?}");
        assert!(shop.stored().is_empty(), "{:?}", shop.stored());
        assert_eq!(shop.test.db.read(shop.tenant, load_usage).await.unwrap().files, 0);
    }

    async fn a_file_that_cannot_be_deleted_keeps_no_other_from_the_sweep(test: TestDb) {
        let (shop, store) = open(test).await;
        let held = shop.upload(shop.ravi, &text(1000, 0)).await.unwrap();
        for seed in 1..4 {
            shop.upload(shop.ravi, &text(1000, seed)).await.unwrap();
        }
        store.set(StoreFaults { undeletable: Some(held.id), ..StoreFaults::default() });
        shop.test.clock.advance(Duration::from_secs(86_401));
        let failed = shop.files.sweep(shop.tenant).await.unwrap_err();
        assert!(failed.to_string().contains("held"), "{failed}");
        assert_eq!(shop.stored().len(), 1, "the others went");
        store.set(StoreFaults::default());
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport { expired: 0, removed: 1 });
    }
}
