//! What the sweep takes, and what it leaves.

use std::time::Duration;

use munshi_blobs::{
    BlobHolder, BlobVariant, Error, SweepReport, UploadRequest, attach, load_usage, references, release,
};
use munshi_store::Tx;
use munshi_test_support::on_both_engines;
use munshi_types::{Clock, Id, MessageId};

use crate::support::{Shop, picture, text, upload};

const DAY: Duration = Duration::from_secs(86_400);

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];

    async fn a_file_lives_as_long_as_what_it_hangs_on(test: TestDb) {
        let shop = Shop::new(test).await;
        let (ravi, now) = (shop.ravi, shop.test.clock.now());
        let request = UploadRequest { name: Some("C:\\bills\\मई.png".to_owned()), ..shop.request(ravi) };
        let kept = upload(&shop.files, request, &picture(5, 5)).await.unwrap();
        let left = shop.upload(ravi, &text(1000, 1)).await.unwrap();
        let [first, second]: [MessageId; 2] = [shop.test.ids.next(), shop.test.ids.next()];
        let hang = move |tx: &mut Tx<'_>| {
            attach(tx, kept.id, (ravi, second), now)?;
            attach(tx, kept.id, (ravi, first), now)
        };
        let attached = shop.test.db.write(shop.tenant, hang).await.unwrap();
        assert_eq!((attached.media_type.as_str(), attached.name.as_deref()), ("image/png", Some("मई.png")));
        assert_eq!(references::parse_reference(&attached.reference), Some(kept.id));
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport::default(), "uploads wait a day");
        shop.test.clock.advance(DAY + Duration::from_secs(1));
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport { expired: 2, removed: 1 });
        assert!(matches!(shop.read(left.id, BlobVariant::Original).await, Err(Error::Unknown(_))));
        shop.test.db.write(shop.tenant, move |tx| release(tx, BlobHolder::Message(first))).await.unwrap();
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport::default(), "the second message keeps it");
        assert!(shop.read(kept.id, BlobVariant::Preview).await.is_ok());
        shop.test.db.write(shop.tenant, move |tx| release(tx, BlobHolder::Message(second))).await.unwrap();
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport { expired: 0, removed: 1 });
        assert!(shop.stored().is_empty());
        assert_eq!(shop.test.db.read(shop.tenant, load_usage).await.unwrap(), munshi_blobs::BlobUsage::default());
    }

    async fn what_is_given_again_counts_from_then_on(test: TestDb) {
        let shop = Shop::new(test).await;
        let (ravi, first, at) = (shop.ravi, shop.test.ids.next::<MessageId>(), shop.test.clock.now());
        let old = shop.upload(ravi, b"rice 40").await.unwrap();
        let hang = move |tx: &mut Tx<'_>| attach(tx, old.id, (ravi, first), at);
        shop.test.db.write(shop.tenant, hang).await.unwrap();
        let expire = |days: u32| {
            let before = shop.test.clock.now().minus(DAY * days);
            shop.test.db.write(shop.tenant, move |tx| munshi_blobs::expire(tx, before, 10))
        };
        shop.test.clock.advance(DAY * 80);
        shop.files.sweep(shop.tenant).await.unwrap();
        assert_eq!(shop.upload(ravi, b"rice 40").await.unwrap().id, old.id, "the same file");
        shop.test.clock.advance(DAY * 20);
        assert_eq!(expire(90).await.unwrap(), 0, "given twenty days ago");
        assert!(shop.read(old.id, BlobVariant::Original).await.is_ok());
        shop.test.clock.advance(DAY * 80);
        assert_eq!(expire(90).await.unwrap(), 1);
        assert!(matches!(shop.read(old.id, BlobVariant::Original).await, Err(Error::Unknown(_))));
    }

    async fn they_are_told_what_their_files_are_called(test: TestDb) {
        let shop = Shop::new(test).await;
        let (ravi, now) = (shop.ravi, shop.test.clock.now());
        let request = UploadRequest { name: Some("ration card.png".to_owned()), ..shop.request(ravi) };
        let blob = upload(&shop.files, request, &picture(5, 5)).await.unwrap();
        let message: MessageId = shop.test.ids.next();
        shop.test.db.write(shop.tenant, move |tx| attach(tx, blob.id, (ravi, message), now)).await.unwrap();
        let tell = move |tx: &mut Tx<'_>| (munshi_blobs::PERSONAL_DATA[0].show)(tx, blob.id.as_uuid());
        let told = shop.test.db.read(shop.tenant, tell).await.unwrap().unwrap();
        assert_eq!(told["names"], serde_json::json!(["ration card.png"]));
    }

    async fn nobody_attaches_what_is_anothers_or_gone(test: TestDb) {
        let shop = Shop::new(test).await;
        let (sita, message, now) = (shop.sita, shop.test.ids.next::<MessageId>(), shop.test.clock.now());
        let blob = shop.upload(shop.ravi, b"a note").await.unwrap();
        for unknown in [blob.id, shop.test.ids.next()] {
            let hang = move |tx: &mut Tx<'_>| attach(tx, unknown, (sita, message), now);
            let refused = shop.test.db.write(shop.tenant, hang).await.unwrap_err();
            assert_eq!(
                refused.to_string(),
                format!("there is no file {unknown} here: upload it first, and name the id that the upload returned")
            );
        }
    }

    async fn a_name_that_cannot_be_read_is_none(test: TestDb) {
        let shop = Shop::new(test).await;
        let request = UploadRequest { name: Some("bill.txt".to_owned()), ..shop.request(shop.ravi) };
        let blob = upload(&shop.files, request, b"a note").await.unwrap();
        let name = move |tx: &mut Tx<'_>| references::find_name(tx, blob.id, BlobHolder::Upload(blob.person));
        assert_eq!(shop.test.db.read(shop.tenant, name).await.unwrap().as_deref(), Some("bill.txt"));
        let spoil = |tx: &mut Tx<'_>| {
            tx.execute("UPDATE blob_references SET name = name || 'AAAA' WHERE tenant_id = $1", munshi_store::params![])
        };
        shop.test.db.write(shop.tenant, spoil).await.unwrap();
        let name = move |tx: &mut Tx<'_>| references::find_name(tx, blob.id, BlobHolder::Upload(blob.person));
        assert_eq!(shop.test.db.read(shop.tenant, name).await.unwrap(), None);
    }

    async fn what_broke_off_is_swept_when_its_writer_must_be_gone(test: TestDb) {
        let shop = Shop::new(test).await;
        let blob = shop.upload(shop.ravi, &text(1000, 1)).await.unwrap();
        // As a crash between the bytes and the word that they are there leaves it.
        let back = move |tx: &mut Tx<'_>| {
            tx.execute("DELETE FROM blob_references WHERE tenant_id = $1", munshi_store::params![])?;
            tx.execute("UPDATE blobs SET state = 'writing' WHERE tenant_id = $1", munshi_store::params![])
        };
        shop.test.db.write(shop.tenant, back).await.unwrap();
        assert!(matches!(shop.read(blob.id, BlobVariant::Original).await, Err(Error::Unknown(_))), "not seen");
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport::default(), "its writer may live");
        let again = shop.upload(shop.ravi, &text(1000, 1)).await.unwrap();
        assert_ne!(again.id, blob.id, "what is half written is no copy");
        shop.test.clock.advance(Duration::from_secs(3601));
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport { expired: 0, removed: 1 });
        assert_eq!(shop.stored().len(), 1);
        assert!(shop.read(again.id, BlobVariant::Original).await.is_ok());
    }

    async fn altered_swapped_and_lost_bytes_are_told_apart(test: TestDb) {
        let shop = Shop::new(test).await;
        let one = shop.upload(shop.ravi, &text(200_000, 1)).await.unwrap();
        let other = shop.upload(shop.ravi, &text(200_000, 2)).await.unwrap();
        let path = |id| shop.stored().into_iter().find(|path| path.to_string_lossy().contains(&format!("{id}"))).unwrap();
        let (first, second) = (path(one.id), path(other.id));
        let whole = std::fs::read(&first).unwrap();
        std::fs::write(&first, &whole[..whole.len() - 70_000]).unwrap();
        assert!(matches!(shop.read(one.id, BlobVariant::Original).await, Err(Error::Damaged(_))));
        std::fs::write(&first, std::fs::read(&second).unwrap()).unwrap();
        assert!(matches!(shop.read(one.id, BlobVariant::Original).await, Err(Error::Damaged(_))));
        std::fs::remove_file(&second).unwrap();
        assert!(matches!(shop.read(other.id, BlobVariant::Original).await, Err(Error::Missing(_))));
    }
}
