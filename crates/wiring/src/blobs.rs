//! People's files, kept where the settings say.

use std::sync::Arc;
use std::time::Duration;

use munshi_blobs::storage::{BlobStore, DiskStore, S3Credentials, S3Options, S3Store};
use munshi_blobs::{BlobLimits, BlobService, BlobServiceParts, TenantQuota};
use munshi_config::Config;
use munshi_http::{HttpClientBuilder, ReachableAddresses, Url};
use munshi_keys::VaultSecret;
use munshi_safety::policy;
use munshi_store::{Db, Error, Tx};
use munshi_types::{Clock, IdGenerator, SystemRandom};

use crate::failure::{CommandFailure, Result};

const CONNECT: Duration = Duration::from_secs(5);
/// Files on their way, within the folder of files: a file is moved within one disk.
const SPOOL: &str = "partial";

/// The service over the folder or the bucket of the settings. Nothing is made or asked before the first file comes.
pub fn build(config: &Config, db: &Db, clock: &Arc<dyn Clock>) -> Result<BlobService> {
    let folder = config.blobs_folder();
    let store: Arc<dyn BlobStore> = match config.blobs.bucket.as_str() {
        "" => Arc::new(DiskStore::new(&folder)),
        bucket => Arc::new(build_bucket(config, bucket, clock)?),
    };
    let random = Arc::new(SystemRandom);
    Ok(BlobService::new(BlobServiceParts {
        db: db.clone(),
        store,
        spool: folder.join(SPOOL),
        clock: clock.clone(),
        random: random.clone(),
        ids: IdGenerator::new(clock.clone(), random),
        limits: limits(config),
        quota: Arc::new(PolicyQuota),
    }))
}

/// `files.quota_mb` of the policy in force.
#[derive(Debug)]
struct PolicyQuota;

impl TenantQuota for PolicyQuota {
    fn load(&self, tx: &mut Tx<'_>) -> munshi_store::Result<Option<u64>> {
        let (_, policy) = policy::load_current(tx).map_err(|error| match error {
            munshi_safety::Error::Store(error) => error,
            other => Error::Decode(other.to_string()),
        })?;
        Ok(policy.files.quota_bytes())
    }
}

fn limits(config: &Config) -> BlobLimits {
    let blobs = &config.blobs;
    let megabytes = |count: usize| (count as u64) << 20;
    BlobLimits {
        file_bytes: megabytes(blobs.file_mb),
        tenant_bytes: megabytes(blobs.tenant_mb),
        picture_memory: megabytes(blobs.picture_memory_mb),
        uploads_at_once: blobs.uploads_at_once,
        free_bytes: megabytes(blobs.keep_free_mb),
        upload_time: blobs.upload_seconds,
        unattached: blobs.unattached_hours,
        ..BlobLimits::default()
    }
}

/// How long the address of a file works at least.
pub fn address_lifetime(config: &Config) -> Duration {
    Duration::from_secs(config.blobs.address_minutes as u64 * 60)
}

fn build_bucket(config: &Config, bucket: &str, clock: &Arc<dyn Clock>) -> Result<S3Store> {
    let blobs = &config.blobs;
    let refused = |what: String, hint: &str| CommandFailure::refused(what).hint(hint);
    if blobs.access_key.is_empty() || blobs.secret_key.reveal().is_empty() {
        return Err(refused(
            format!("blobs.bucket names {bucket}, and there is no key for it"),
            "set blobs.access_key and MUNSHI__BLOBS__SECRET_KEY, or remove bucket",
        ));
    }
    let amazon = || format!("https://s3.{}.amazonaws.com", blobs.region);
    let endpoint = blobs.endpoint.as_ref().map_or_else(amazon, |url| url.reveal().to_owned());
    let endpoint: Url = endpoint.parse().map_err(|error| {
        refused(format!("blobs.endpoint is no address: {error}"), "write it like https://s3.example.com")
    })?;
    let client = HttpClientBuilder::new().and_then(|builder| builder.build(CONNECT, ReachableAddresses::Any));
    let client = client.map_err(|error| CommandFailure::failed(error.to_string()))?;
    let options = S3Options {
        endpoint,
        bucket: bucket.to_owned(),
        region: blobs.region.clone(),
        prefix: blobs.prefix.clone(),
    };
    let secret_key = VaultSecret::new(blobs.secret_key.reveal().to_owned())
        .map_err(|error| CommandFailure::failed(error.to_string()))?;
    let credentials = S3Credentials { access_key: blobs.access_key.clone(), secret_key };
    Ok(S3Store::new(client, options, credentials, clock.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_test_support::on_both_engines;

    on_both_engines! {
        with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

        async fn a_tenant_says_itself_how_much_it_keeps(test: TestDb) {
            let (tenant, other) = (test.add_tenant("shop").await, test.add_tenant("school").await);
            let now = test.clock.now();
            let put = move |tx: &mut Tx<'_>| {
                let limited = policy::parse("[files]\nquota_mb = 2\n").unwrap();
                policy::apply(tx, &limited, "test", "", now)
            };
            test.db.write(tenant, put).await.unwrap();
            for (tenant, expected) in [(tenant, Some(2 << 20)), (other, None)] {
                let quota = test.db.read(tenant, |tx| PolicyQuota.load(tx)).await.unwrap();
                assert_eq!(quota, expected);
            }
        }
    }
}
