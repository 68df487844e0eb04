//! What is taken, under which key, and how much of it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_blobs::{BlobLimits, BlobVariant, Error, MediaType, UploadRefusal, load_usage};
use munshi_identity::persons;
use munshi_store::params;
use munshi_test_support::on_both_engines;

use crate::support::{Shop, picture, refusal, text, upload};

const MB: usize = 1 << 20;

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];

    async fn a_file_comes_back_as_it_was_and_lies_sealed(test: TestDb) {
        let shop = Shop::new(test).await;
        let content = text(5 * MB + 17, 1);
        let blob = shop.upload(shop.ravi, &content).await.unwrap();
        assert_eq!((blob.media_type, blob.size, blob.preview), (MediaType::Text, content.len() as u64, None));
        assert_eq!(shop.read(blob.id, BlobVariant::Original).await.unwrap(), content);
        let stored = shop.stored();
        let lying = std::fs::read(stored.first().unwrap()).unwrap();
        assert!(!lying.windows(64).any(|part| part == &content[100..164]), "sealed");
        assert_eq!(stored.len(), 1);
        assert!(shop.on_their_way().is_empty());
        let used = shop.test.db.read(shop.tenant, load_usage).await.unwrap();
        assert_eq!((used.files, used.bytes), (1, lying.len() as u64));
    }

    async fn a_picture_is_shown_without_what_was_written_into_it(test: TestDb) {
        let shop = Shop::new(test).await;
        let given = picture(3000, 20);
        let blob = shop.upload(shop.ravi, &given).await.unwrap();
        let size = blob.preview.unwrap();
        assert_eq!((blob.media_type, size.width, size.height), (MediaType::Png, 2048, 13));
        assert_eq!(shop.read(blob.id, BlobVariant::Original).await.unwrap(), given);
        let shown = shop.read(blob.id, BlobVariant::Preview).await.unwrap();
        assert!(shown.starts_with(&[0xFF, 0xD8, 0xFF]));
        assert!(!shown.windows(7).any(|part| part == b"19.0760"));
        let note = shop.upload(shop.ravi, b"a note").await.unwrap();
        let none = shop.read(note.id, BlobVariant::Preview).await;
        assert!(matches!(none, Err(Error::Unknown(_))), "{none:?}");
    }

    async fn the_same_content_is_there_once_within_a_key_and_unlike_in_another(test: TestDb) {
        let shop = Shop::new(test).await;
        let content = text(100_000, 2);
        let first = shop.upload(shop.ravi, &content).await.unwrap();
        let again = shop.upload(shop.ravi, &content).await.unwrap();
        let hers = shop.upload(shop.sita, &content).await.unwrap();
        assert_eq!(first, again);
        assert_ne!(first.id, hers.id);
        assert_eq!(shop.stored().len(), 2);
        let hashes: Vec<Vec<u8>> = shop.test.db.read(shop.tenant, |tx| {
            tx.all("SELECT content_hash FROM blobs WHERE tenant_id = $1", params![], |row| row.get(0))
        }).await.unwrap();
        assert_eq!(hashes.len(), 2);
        assert_ne!(hashes[0], hashes[1], "nobody can tell that two people have the same file");
    }

    async fn a_file_that_is_sent_again_brings_back_bytes_that_were_lost(test: TestDb) {
        let shop = Shop::new(test).await;
        let given = [picture(30, 20), text(200_000, 7)];
        for content in given {
            let others = shop.stored();
            let blob = shop.upload(shop.ravi, &content).await.unwrap();
            let stored = shop.stored();
            stored.difference(&others).for_each(|path| std::fs::remove_file(path).unwrap());
            assert!(matches!(shop.read(blob.id, BlobVariant::Original).await, Err(Error::Missing(_))));
            let used = shop.test.db.read(shop.tenant, load_usage).await.unwrap();
            assert_eq!(shop.upload(shop.ravi, &content).await.unwrap(), blob, "whatever carries it shows it again");
            assert!(shop.read(blob.id, BlobVariant::Original).await.unwrap() == content);
            if blob.preview.is_some() {
                assert!(shop.read(blob.id, BlobVariant::Preview).await.unwrap().starts_with(&[0xFF, 0xD8]));
            }
            assert_eq!(shop.stored(), stored);
            assert!(shop.on_their_way().is_empty());
            assert_eq!(shop.test.db.read(shop.tenant, load_usage).await.unwrap(), used);
        }
    }

    async fn two_at_once_of_the_same_are_one(test: TestDb) {
        let limits = BlobLimits { uploads_of_one_person: 6, ..BlobLimits::default() };
        let shop = Shop::with_limits(test, limits).await;
        let content = text(300_000, 3);
        let uploads = (0..6).map(|_| shop.upload(shop.ravi, &content));
        let blobs: Vec<_> = futures_util::future::join_all(uploads).await.into_iter().map(Result::unwrap).collect();
        assert!(blobs.iter().all(|blob| blob.id == blobs[0].id), "{blobs:?}");
        assert_eq!(shop.stored().len(), 1, "what lost is removed at once");
        let used = shop.test.db.read(shop.tenant, load_usage).await.unwrap();
        assert_eq!(used.files, 1);
    }

    async fn a_quota_lets_the_last_that_fits_pass_and_no_more(test: TestDb) {
        let limits = BlobLimits { tenant_bytes: 5 * 110_000, uploads_of_one_person: 12, ..BlobLimits::default() };
        let shop = Shop::with_limits(test, limits).await;
        let contents: Vec<_> = (0..12).map(|seed| text(100_000, seed)).collect();
        let uploads = contents.iter().map(|content| shop.upload(shop.ravi, content));
        let outcomes = futures_util::future::join_all(uploads).await;
        let (taken, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
        assert_eq!((taken.len(), refused.len()), (5, 7));
        for outcome in refused {
            assert_eq!(refusal(outcome), UploadRefusal::QuotaReached { quota: 550_000 });
        }
        assert_eq!(shop.stored().len(), 5);
        let announced = munshi_blobs::UploadRequest { declared_size: Some(80_000), ..shop.request(shop.sita) };
        assert_eq!(refusal(upload(&shop.files, announced, b"").await), UploadRefusal::QuotaReached { quota: 550_000 });
    }

    async fn of_the_installations_limit_and_the_tenants_own_the_lower_counts(test: TestDb) {
        let limits = BlobLimits { tenant_bytes: 250_000, ..BlobLimits::default() };
        let shop = Shop::with_limits(test, limits).await;
        let take = async |quota, seed| {
            shop.quota.0.store(quota, Ordering::SeqCst);
            shop.upload(shop.ravi, &text(100_000, seed)).await
        };
        let told = refusal(take(90_000, 1).await);
        assert_eq!(told, UploadRefusal::QuotaReached { quota: 90_000 });
        assert!(told.to_string().contains("ask the owner to delete some or to raise the limit"), "{told}");
        let kept = take(120_000, 2).await.unwrap();
        // Lowered afterwards, nothing goes.
        assert_eq!(refusal(take(50_000, 3).await), UploadRefusal::QuotaReached { quota: 50_000 });
        assert!(shop.read(kept.id, BlobVariant::Original).await.is_ok());
        take(9_000_000, 4).await.unwrap();
        assert_eq!(refusal(take(9_000_000, 5).await), UploadRefusal::QuotaReached { quota: 250_000 });
        let used = shop.test.db.read(shop.tenant, load_usage).await.unwrap();
        assert_eq!(used.files, 2);
    }

    async fn a_merged_person_keeps_their_files(test: TestDb) {
        let shop = Shop::new(test).await;
        let (ravi, sita) = (shop.ravi, shop.sita);
        let blob = shop.upload(ravi, b"a note").await.unwrap();
        let stranger = shop.test.db.write(shop.tenant, move |tx| munshi_blobs::rows::find_own(tx, blob.id, sita)).await;
        assert_eq!(stranger.unwrap(), None);
        shop.test.db.write(shop.tenant, move |tx| persons::merge(tx, ravi, sita)).await.unwrap();
        let own = shop.test.db.write(shop.tenant, move |tx| munshi_blobs::rows::find_own(tx, blob.id, sita)).await;
        assert_eq!(own.unwrap(), Some(blob.clone()));
        assert_eq!(shop.read(blob.id, BlobVariant::Original).await.unwrap(), b"a note");
    }

    async fn another_tenant_sees_nothing(test: TestDb) {
        let shop = Shop::new(test).await;
        let blob = shop.upload(shop.ravi, b"a note").await.unwrap();
        let clinic = shop.test.add_tenant("clinic").await;
        let seen = shop.files.open(clinic, blob.id, BlobVariant::Original).await;
        assert!(matches!(seen, Err(Error::Unknown(_))), "{seen:?}");
    }

    async fn an_upload_that_stops_or_never_ends_leaves_nothing(test: TestDb) {
        let limits = BlobLimits { upload_time: Duration::from_secs(2), file_bytes: 1 << 20, ..BlobLimits::default() };
        let shop = Shop::with_limits(test, limits).await;
        let piece = || Ok(Bytes::from(text(100_000, 9)));
        let broken = stream::iter([piece(), Err(UploadRefusal::BrokenOff)]).boxed();
        let outcome = shop.files.upload(shop.request(shop.ravi), broken).await;
        assert_eq!(refusal(outcome), UploadRefusal::BrokenOff);
        let hanging = stream::iter([piece()]).chain(stream::pending()).boxed();
        let outcome = shop.files.upload(shop.request(shop.ravi), hanging).await;
        assert_eq!(refusal(outcome), UploadRefusal::TooSlow { limit: limits.upload_time });
        let endless = stream::repeat_with(piece).boxed();
        let outcome = shop.files.upload(shop.request(shop.ravi), endless).await;
        assert_eq!(refusal(outcome), UploadRefusal::TooLarge { most: limits.file_bytes });
        let shop = &shop;
        munshi_test_support::wait_until(|| async move { shop.on_their_way().is_empty() }).await;
        assert!(shop.stored().is_empty());
    }

    async fn a_disk_that_is_almost_full_takes_no_files_and_says_so(test: TestDb) {
        let limits = BlobLimits { free_bytes: u64::MAX, ..BlobLimits::default() };
        let shop = Shop::with_limits(test, limits).await;
        assert_eq!(refusal(shop.upload(shop.ravi, b"hello").await), UploadRefusal::DiskFull);
        assert!(shop.stored().is_empty() && shop.on_their_way().is_empty());
    }

    async fn too_many_at_once_are_asked_to_wait(test: TestDb) {
        let limits = BlobLimits { uploads_at_once: 1, upload_time: Duration::from_millis(500), ..BlobLimits::default() };
        let shop = Shop::with_limits(test, limits).await;
        let hanging = shop.files.upload(shop.request(shop.ravi), stream::pending().boxed());
        let second = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            shop.upload(shop.sita, b"hello").await
        };
        let (_, second) = tokio::join!(hanging, second);
        assert_eq!(refusal(second), UploadRefusal::TooManyUploads);
        // The thread that wrote has the slot until it has noticed.
        munshi_test_support::wait_until(async || shop.upload(shop.sita, b"hello").await.is_ok()).await;
    }
}
