//! Where sealed files lie: a folder, or an S3 bucket. A store holds bytes under names and knows nothing of keys or rows.

mod disk;
mod s3;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;

pub use disk::DiskStore;
pub use s3::{S3Credentials, S3Options, S3Store};

use crate::chunk_cipher::{BlobObject, BlobVariant};
use crate::error::Result;
use crate::spool::SpooledFile;

/// The pieces of a stored file, as they come.
pub type SealedStream = BoxStream<'static, Result<Bytes>>;

/// A place for files. Putting the same name again replaces it, and deleting what is not there is no error: whoever was
/// interrupted does it again.
#[async_trait]
pub trait BlobStore: Send + Sync + std::fmt::Debug {
    /// When this answers, the bytes are safe.
    async fn put(&self, object: BlobObject, file: SpooledFile) -> Result<()>;

    /// None when there is no such object.
    async fn get(&self, object: BlobObject) -> Result<Option<SealedStream>>;

    /// Whether there is such an object.
    async fn has(&self, object: BlobObject) -> Result<bool>;

    async fn delete(&self, object: BlobObject) -> Result<()>;
}

/// `TENANT/BLOB` and what it is. Ids alone, so that a name tells nothing.
fn name_object(object: BlobObject) -> String {
    let variant = match object.variant {
        BlobVariant::Original => "original",
        BlobVariant::Preview => "preview",
    };
    format!("{}/{}.{variant}", object.tenant, object.blob)
}
