//! The files that go along with a message, read when it is sent.

use async_trait::async_trait;
use munshi_blobs::{BlobService, BlobVariant};
use munshi_conversations::outbox::SendFault;
use munshi_types::{BlobId, TenantId};

/// Where the bytes of a tenant's file are.
#[async_trait]
pub trait FileSource: Send + Sync + 'static {
    /// At most `most` bytes of it: one that is longer is refused.
    async fn load(&self, tenant: TenantId, file: BlobId, most: u64) -> Result<Vec<u8>, SendFault>;
}

/// The files that people gave, or that were made for them.
#[derive(Clone)]
pub struct BlobFiles(pub BlobService);

#[async_trait]
impl FileSource for BlobFiles {
    async fn load(&self, tenant: TenantId, file: BlobId, most: u64) -> Result<Vec<u8>, SendFault> {
        let content = self
            .0
            .open(tenant, file, BlobVariant::Original)
            .await
            .map_err(|error| convert_blob_error(&error))?;
        if content.blob.size > most {
            return Err(SendFault::refused(format!(
                "file {file} is larger than the {most} bytes that may go along"
            )));
        }
        content.read_all().await.map_err(|error| convert_blob_error(&error))
    }
}

fn convert_blob_error(error: &munshi_blobs::Error) -> SendFault {
    match error.is_transient() {
        true => SendFault::passing(error.to_string()),
        false => SendFault::refused(error.to_string()),
    }
}
