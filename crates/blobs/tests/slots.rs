//! How many files are taken at once, also when those who send them hang up.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use munshi_blobs::storage::DiskStore;
use munshi_blobs::{BlobLimits, BlobService, BlobServiceParts, NoTenantQuota, UploadRefusal};
use munshi_test_support::{on_both_engines, wait_until};
use munshi_types::{Random, SystemRandom};

use crate::support::{Shop, picture, refusal, upload};

/// Stops the thread that has decoded a picture: it asks for a salt. Of three times that a picture asks for chance it is the last.
#[derive(Debug, Default)]
struct DecoderGate {
    is_open: Mutex<bool>,
    opened: Condvar,
    asked: AtomicU32,
    waiting: AtomicU32,
}

impl DecoderGate {
    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::SeqCst)
    }
}

impl Random for DecoderGate {
    fn fill(&self, bytes: &mut [u8]) {
        SystemRandom.fill(bytes);
        if self.asked.fetch_add(1, Ordering::SeqCst) % 3 == 2 {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let is_open = self.is_open.lock().unwrap();
            drop(self.opened.wait_while(is_open, |is_open| !*is_open).unwrap());
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn behind_gate(shop: &Shop, gate: &Arc<DecoderGate>, limits: BlobLimits) -> BlobService {
    let folder = shop.test.place.folder().join("blobs");
    BlobService::new(BlobServiceParts {
        db: shop.test.db.clone(),
        store: Arc::new(DiskStore::new(&folder)),
        spool: folder.join("partial"),
        clock: shop.test.clock.clone(),
        random: gate.clone(),
        ids: shop.test.ids.clone(),
        limits,
        quota: Arc::new(NoTenantQuota),
    })
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];

    async fn who_hangs_up_leaves_one_decoder_at_work_and_no_second(test: TestDb) {
        let shop = Shop::new(test).await;
        let gate = Arc::new(DecoderGate::default());
        let files = behind_gate(&shop, &gate, BlobLimits { uploads_at_once: 2, ..BlobLimits::default() });
        let first = picture(4, 4);
        let hung_up = upload(&files, shop.request(shop.ravi), &first);
        let decoding = wait_until(|| async { gate.waiting() == 1 });
        tokio::select! {
            _ = hung_up => panic!("it waits for its decoder"),
            () = decoding => {}
        }
        let second = picture(5, 5);
        let next = upload(&files, shop.request(shop.sita), &second);
        tokio::pin!(next);
        assert!(tokio::time::timeout(Duration::from_millis(300), &mut next).await.is_err());
        assert_eq!(gate.waiting(), 1, "the second is not decoded beside the first");
        let third = upload(&files, shop.request(shop.sita), b"a note").await;
        assert_eq!(refusal(third), UploadRefusal::TooManyUploads, "what is decoded is still an upload");
        gate.open();
        next.await.unwrap();
        wait_until(|| async { upload(&files, shop.request(shop.sita), b"a note").await.is_ok() }).await;
    }

    async fn a_picture_waits_for_the_decoder_no_longer_than_an_upload_may_take(test: TestDb) {
        let shop = Shop::new(test).await;
        let gate = Arc::new(DecoderGate::default());
        let limits = BlobLimits { upload_time: Duration::from_secs(1), ..BlobLimits::default() };
        let files = behind_gate(&shop, &gate, limits);
        let (small, large) = (picture(4, 4), picture(5, 5));
        let first = upload(&files, shop.request(shop.ravi), &small);
        let second = async {
            wait_until(|| async { gate.waiting() == 1 }).await;
            let outcome = upload(&files, shop.request(shop.sita), &large).await;
            gate.open();
            outcome
        };
        let (first, second) = tokio::join!(first, second);
        assert!(first.is_ok(), "{first:?}");
        assert_eq!(refusal(second), UploadRefusal::TooManyUploads);
    }

    async fn nobody_takes_the_slots_of_others(test: TestDb) {
        let shop = Shop::new(test).await;
        let hanging = || shop.files.upload(shop.request(shop.ravi), stream::pending().boxed());
        let all = futures_util::future::join_all((0..BlobLimits::default().uploads_of_one_person).map(|_| hanging()));
        let others = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            (shop.upload(shop.ravi, b"one more").await, shop.upload(shop.sita, b"hers").await)
        };
        let (own, hers) = tokio::select! {
            _ = all => panic!("they wait for ever"),
            outcomes = others => outcomes,
        };
        assert_eq!(refusal(own), UploadRefusal::TooManyUploads);
        assert!(hers.is_ok(), "{hers:?}");
        wait_until(|| async { shop.upload(shop.ravi, b"one more").await.is_ok() }).await;
    }
}
