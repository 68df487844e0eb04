//! Giving a file back.

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use munshi_store::Tx;
use munshi_types::{BlobId, TenantId};

use super::BlobService;
use crate::address::BlobAddress;
use crate::chunk_cipher::{BlobObject, BlobVariant, ChunkOpener};
use crate::error::{Error, Result};
use crate::rows::{self, Blob};
use crate::storage::SealedStream;

/// A file, and its plain bytes as they are read. A stream that ends without an error is whole.
pub struct BlobContent {
    pub blob: Blob,
    pub variant: BlobVariant,
    pub bytes: BoxStream<'static, Result<Bytes>>,
}

impl std::fmt::Debug for BlobContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobContent").field("blob", &self.blob).finish_non_exhaustive()
    }
}

impl BlobContent {
    /// All of it. A file is no larger than an upload may be.
    pub async fn read_all(self) -> Result<Vec<u8>> {
        let collect = |mut all: Vec<u8>, piece: Bytes| async move {
            all.extend_from_slice(&piece);
            Ok(all)
        };
        self.bytes.try_fold(Vec::new(), collect).await
    }
}

impl BlobService {
    /// Opens a file for whoever may see it, which the caller has checked.
    pub async fn open(&self, tenant: TenantId, blob: BlobId, variant: BlobVariant) -> Result<BlobContent> {
        self.open_with(BlobObject { tenant, blob, variant }, move |tx| {
            rows::find(tx, blob)?.ok_or(Error::Unknown(blob))
        })
        .await
    }

    /// Opens what an address leads to.
    pub async fn open_address(&self, address: &str) -> Result<(BlobContent, BlobAddress)> {
        let address = BlobAddress::parse(address).ok_or(Error::Address)?;
        let now = self.0.clock.now();
        let content = self.open_with(address.object, move |tx| address.verify(tx, now)).await?;
        Ok((content, address))
    }

    async fn open_with(
        &self,
        object: BlobObject,
        find: impl FnOnce(&mut Tx<'_>) -> Result<Blob> + Send + 'static,
    ) -> Result<BlobContent> {
        let BlobObject { tenant, blob: id, variant } = object;
        let read = move |tx: &mut Tx<'_>| {
            let blob = find(tx)?;
            let key = rows::find_file_key(tx, id)?.ok_or(Error::Unknown(id))?;
            Ok::<_, Error>((blob, key))
        };
        let (blob, key) = self.0.db.read(tenant, read).await?;
        if variant == BlobVariant::Preview && blob.preview.is_none() {
            return Err(Error::Unknown(id));
        }
        let sealed = self.0.store.get(object).await?.ok_or(Error::Missing(id))?;
        let opening = Opening { sealed, opener: Some(ChunkOpener::new(key, object)) };
        Ok(BlobContent { blob, variant, bytes: stream::try_unfold(opening, open_next).boxed() })
    }
}

struct Opening {
    sealed: SealedStream,
    /// None once the last chunk was opened.
    opener: Option<ChunkOpener>,
}

async fn open_next(mut opening: Opening) -> Result<Option<(Bytes, Opening)>> {
    let mut plain = Vec::new();
    while let Some(opener) = &mut opening.opener {
        match opening.sealed.next().await.transpose()? {
            Some(piece) => opener.push(&piece, &mut plain)?,
            None => {
                if let Some(opener) = opening.opener.take() {
                    opener.finish(&mut plain)?;
                }
            }
        }
        if !plain.is_empty() {
            return Ok(Some((plain.into(), opening)));
        }
    }
    Ok(None)
}
