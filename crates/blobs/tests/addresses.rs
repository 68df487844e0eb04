//! Addresses that expire.

use std::time::Duration;

use munshi_blobs::{BlobVariant, Error, address};
use munshi_test_support::on_both_engines;
use munshi_types::{BlobId, Clock, TenantId, Timestamp};

use crate::support::{Shop, picture};

const MINUTES: Duration = Duration::from_secs(900);

async fn sign(shop: &Shop, tenant: TenantId, blob: BlobId, variant: BlobVariant, now: Timestamp) -> String {
    let sign = move |tx: &mut munshi_store::Tx<'_>| address::sign(tx, blob, variant, (now, MINUTES));
    shop.test.db.read(tenant, sign).await.unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];

    async fn an_address_shows_its_variant_of_its_file_until_its_end(test: TestDb) {
        let shop = Shop::new(test).await;
        let blob = shop.upload(shop.ravi, &picture(4, 4)).await.unwrap();
        let now = shop.test.clock.now();
        let shown = sign(&shop, shop.tenant, blob.id, BlobVariant::Preview, now).await;
        let (content, address) = shop.files.open_address(&shown).await.unwrap();
        assert_eq!((content.blob.id, content.variant), (blob.id, BlobVariant::Preview));
        assert!(content.read_all().await.unwrap().starts_with(&[0xFF, 0xD8]));
        let lasts = address.expires_at.since(now);
        assert!(lasts > MINUTES && lasts <= 2 * MINUTES, "{lasts:?}");
        let soon = now.plus(Duration::from_secs(60));
        assert_eq!(sign(&shop, shop.tenant, blob.id, BlobVariant::Preview, soon).await, shown, "cached for a while");
        shop.test.clock.set(address.expires_at);
        assert!(matches!(shop.files.open_address(&shown).await, Err(Error::Address)));
    }

    async fn an_address_that_somebody_altered_or_made_shows_nothing(test: TestDb) {
        let shop = Shop::new(test).await;
        let (clinic, now) = (shop.test.add_tenant("clinic").await, shop.test.clock.now());
        let blob = shop.upload(shop.ravi, &picture(4, 4)).await.unwrap();
        let other = shop.upload(shop.sita, b"hers").await.unwrap();
        let good = sign(&shop, shop.tenant, blob.id, BlobVariant::Preview, now).await;
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        for at in 0..good.len() {
            let old = good.as_bytes()[at];
            let new = letters.bytes().find(|letter| *letter != old && letter % 7 == old % 7).unwrap_or(b'A');
            let mut altered = good.clone().into_bytes();
            altered[at] = new;
            let altered = String::from_utf8(altered).unwrap();
            assert!(shop.files.open_address(&altered).await.is_err(), "letter {at}");
        }
        for made in ["", "x", &good[1..], &format!("{good}A"), "%00", "../../etc/passwd"] {
            assert!(matches!(shop.files.open_address(made).await, Err(Error::Address)), "{made}");
        }
        // Another tenant's key, for this tenant's file.
        let foreign = sign(&shop, clinic, blob.id, BlobVariant::Preview, now).await;
        assert!(shop.files.open_address(&foreign).await.is_err());
        assert_ne!(sign(&shop, shop.tenant, other.id, BlobVariant::Preview, now).await, good);
        assert!(shop.files.open_address(&good).await.is_ok());
    }
}
