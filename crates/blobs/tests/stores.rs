//! The same service over a real S3 server.

use std::sync::Arc;
use std::time::Duration;

use munshi_blobs::storage::{S3Credentials, S3Options, S3Store};
use munshi_blobs::{BlobLimits, BlobVariant, Error, SweepReport};
use munshi_http::{HttpClientBuilder, ReachableAddresses};
use munshi_keys::VaultSecret;
use munshi_test_support::environment::{S3Server, s3};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::SystemClock;

use crate::support::{Shop, picture, text};

fn store(server: S3Server) -> Arc<S3Store> {
    let client =
        HttpClientBuilder::new().unwrap().build(Duration::from_secs(5), ReachableAddresses::Any).unwrap();
    let options = S3Options {
        endpoint: server.endpoint.parse().unwrap(),
        bucket: server.bucket,
        region: "ap-south-1".to_owned(),
        prefix: "shared folder/munshi/".to_owned(),
    };
    let credentials = S3Credentials {
        access_key: server.access_key,
        secret_key: VaultSecret::new(server.secret_key).unwrap(),
    };
    Arc::new(S3Store::new(client, options, credentials, Arc::new(SystemClock)))
}

async fn shop(test: TestDb, server: S3Server) -> Shop {
    Shop::with_store(test, BlobLimits::default(), store(server)).await
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];

    async fn files_go_to_a_bucket_and_come_back_and_go(test: TestDb) {
        let shop = shop(test, s3()).await;
        let content = text(24 << 20, 4);
        let large = shop.upload(shop.ravi, &content).await.unwrap();
        assert!(shop.read(large.id, BlobVariant::Original).await.unwrap() == content);
        let shown = shop.upload(shop.ravi, &picture(40, 30)).await.unwrap();
        assert!(shop.read(shown.id, BlobVariant::Preview).await.unwrap().starts_with(&[0xFF, 0xD8]));
        assert!(shop.stored().is_empty() && shop.on_their_way().is_empty());
        shop.test.clock.advance(Duration::from_secs(86_401));
        assert_eq!(shop.files.sweep(shop.tenant).await.unwrap(), SweepReport { expired: 2, removed: 2 });
    }

    async fn what_the_server_lost_is_missing(test: TestDb) {
        use munshi_blobs::BlobObject;
        use munshi_blobs::storage::BlobStore as _;
        let shop = shop(test, s3()).await;
        let blob = shop.upload(shop.ravi, b"a note").await.unwrap();
        let object = BlobObject { tenant: shop.tenant, blob: blob.id, variant: BlobVariant::Original };
        let bucket = store(s3());
        bucket.delete(object).await.unwrap();
        bucket.delete(object).await.unwrap();
        assert!(matches!(shop.read(blob.id, BlobVariant::Original).await, Err(Error::Missing(_))));
        assert_eq!(shop.upload(shop.ravi, b"a note").await.unwrap(), blob);
        assert_eq!(shop.read(blob.id, BlobVariant::Original).await.unwrap(), b"a note");
    }
}

/// What an operator reads who has written something wrong.
#[tokio::test]
async fn a_server_that_refuses_is_told_as_it_puts_it() {
    for (wrong, expected) in [
        (S3Server { secret_key: "wrong".to_owned(), ..s3() }, "403 Forbidden SignatureDoesNotMatch"),
        (S3Server { bucket: "nowhere".to_owned(), ..s3() }, "NoSuchBucket"),
    ] {
        let test = TestDb::open(
            munshi_test_support::DatabaseEngine::Sqlite,
            &[munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS],
        )
        .await;
        let shop = shop(test, wrong).await;
        let refused = shop.upload(shop.ravi, b"hello").await.unwrap_err();
        assert!(refused.to_string().contains(expected), "{refused}");
        assert!(shop.on_their_way().is_empty());
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_a_failure_that_may_pass() {
    let port = munshi_test_support::choose_port();
    let away = S3Server { endpoint: format!("http://127.0.0.1:{port}"), ..s3() };
    let test = TestDb::open(
        munshi_test_support::DatabaseEngine::Sqlite,
        &[munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS],
    )
    .await;
    let shop = shop(test, away).await;
    let failed = shop.upload(shop.ravi, b"hello").await.unwrap_err();
    assert!(failed.is_transient() && failed.to_string().contains("refused"), "{failed}");
}
