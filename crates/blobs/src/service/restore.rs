//! Bringing back the bytes of a file that the database knows and the store has not: the disk was lost, or the database restored.

use std::sync::Arc;

use munshi_keys::SealKey;
use munshi_types::TenantId;

use super::receive::open_spooled;
use super::upload::SealedUpload;
use super::{BlobService, UploadSlot};
use crate::chunk_cipher::{BlobObject, BlobVariant};
use crate::error::{Error, Result};
use crate::rows::{self, Blob};
use crate::spool::SpooledFile;

/// A file on its way, and what opens it.
struct SealedSource {
    file: SpooledFile,
    key: Arc<SealKey>,
    object: BlobObject,
}

impl BlobService {
    /// Somebody sends a file again that they have here. Where its bytes are gone, those that came now take their place.
    pub(super) async fn restore_missing(
        &self,
        slot: &Arc<UploadSlot>,
        tenant: TenantId,
        blob: &Blob,
        upload: SealedUpload,
    ) -> Result<()> {
        let SealedUpload { draft, original, preview, file_key } = upload;
        let variants = [
            (BlobVariant::Original, Some(original.sealed)),
            (BlobVariant::Preview, preview.map(|preview| preview.sealed).filter(|_| blob.preview.is_some())),
        ];
        for (variant, file) in variants {
            let object = BlobObject { tenant, blob: blob.id, variant };
            let Some(file) = file else { continue };
            if self.0.store.has(object).await? {
                continue;
            }
            tracing::warn!(%tenant, blob = %blob.id, ?variant, "a file was missing in the store; it was sent again");
            let sealed = BlobObject { blob: draft.blob.id, ..object };
            let source = SealedSource { file, key: file_key.clone(), object: sealed };
            let file = self.seal_again(slot, source, object).await?;
            self.0.store.put(object, file).await?;
        }
        Ok(())
    }

    /// As the file that is there: by its key, under its id.
    async fn seal_again(
        &self,
        slot: &Arc<UploadSlot>,
        source: SealedSource,
        object: BlobObject,
    ) -> Result<SpooledFile> {
        let id = object.blob;
        let found = self.0.db.read(object.tenant, move |tx| rows::find_file_key(tx, id)).await?;
        let key = found.ok_or(Error::Unknown(id))?;
        let (spool, random, slot) = (self.0.spool.clone(), self.0.random.clone(), slot.clone());
        let sealing = tokio::task::spawn_blocking(move || {
            let mut writer = spool.begin(&key, object, random.as_ref())?;
            let mut content = source.file.open()?;
            open_spooled(&mut content, &source.key, source.object, &mut |plain| writer.push(plain))?;
            let sealed = writer.finish();
            drop(slot);
            sealed
        });
        sealing.await.map_err(|error| Error::stopped(&error))?
    }
}
