//! From a stream to a sealed file of ours, with its type, its hash and what is shown of it.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use munshi_keys::SealKey;
use munshi_types::Random;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::{BlobService, UploadSlot, UploadStream};
use crate::chunk_cipher::{BlobObject, BlobVariant, ChunkOpener};
use crate::error::{Error, Result};
use crate::media_type::MediaType;
use crate::picture::render_preview;
use crate::refusal::UploadRefusal;
use crate::rows::PreviewSize;
use crate::spool::{SpoolFolder, SpooledFile};
use crate::type_detector::TypeDetector;

/// Pieces that wait for the disk.
const WAITING: usize = 2;

/// A file that has come in.
pub(super) struct ReceivedFile {
    pub(super) sealed: SpooledFile,
    pub(super) digest: [u8; 32],
    pub(super) size: u64,
    pub(super) media_type: MediaType,
}

/// What is shown of it.
pub(super) struct SealedPreview {
    pub(super) sealed: SpooledFile,
    pub(super) size: PreviewSize,
}

impl BlobService {
    pub(super) async fn receive(
        &self,
        slot: &Arc<UploadSlot>,
        (object, file_key): (BlobObject, &Arc<SealKey>),
        content: &mut UploadStream<'_>,
    ) -> Result<ReceivedFile> {
        let (sender, pieces) = mpsc::channel(WAITING);
        let (spool, key, random) = (self.0.spool.clone(), file_key.clone(), self.0.random.clone());
        let slot = slot.clone();
        let writing = tokio::task::spawn_blocking(move || {
            write_spool(&spool, &key, object, random.as_ref(), (pieces, slot))
        });
        let (mut detector, mut hash, mut size) = (TypeDetector::default(), Sha256::new(), 0);
        let most = self.0.limits.file_bytes;
        while let Some(piece) = content.next().await {
            let piece = piece?;
            size += piece.len() as u64;
            if size > most {
                return Err(UploadRefusal::TooLarge { most }.into());
            }
            detector.push(&piece)?;
            hash.update(&piece);
            if sender.send(piece).await.is_err() {
                break; // the disk has failed, which the thread says
            }
        }
        drop(sender);
        let sealed = writing.await.map_err(|error| Error::stopped(&error))??;
        Ok(ReceivedFile { sealed, digest: hash.finalize().into(), size, media_type: detector.finish()? })
    }

    /// Decodes a picture. A file that is none has no preview. Whoever hangs up while it is decoded leaves a thread that decodes: it keeps its
    /// turn and its slot until its end.
    pub(super) async fn preview(
        &self,
        slot: &Arc<UploadSlot>,
        (object, file_key): (BlobObject, &Arc<SealKey>),
        received: &ReceivedFile,
    ) -> Result<Option<SealedPreview>> {
        if !received.media_type.is_picture() {
            return Ok(None);
        }
        // A picture takes a second or two: where so many are before this one, it is better sent again.
        let turn = tokio::time::timeout(self.0.limits.upload_time, self.0.decoding.clone().acquire_owned());
        let turn = turn.await.map_err(|_| UploadRefusal::TooManyUploads)?;
        let held = (turn.map_err(|_| Error::Storage("shutting down".to_owned()))?, slot.clone());
        let (spool, random, memory) =
            (self.0.spool.clone(), self.0.random.clone(), self.0.limits.picture_memory);
        let (key, media_type, size) = (file_key.clone(), received.media_type, received.size);
        let mut file = received.sealed.open()?;
        let rendering = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
            open_spooled(&mut file, &key, object, &mut |plain| {
                bytes.extend_from_slice(plain);
                Ok(())
            })?;
            let preview = render_preview(&bytes, media_type, memory)?;
            let object = BlobObject { variant: BlobVariant::Preview, ..object };
            let mut writer = spool.begin(&key, object, random.as_ref())?;
            writer.push(&preview.jpeg)?;
            let size = PreviewSize { width: preview.width, height: preview.height };
            let sealed = writer.finish()?;
            drop(held);
            Ok(SealedPreview { sealed, size })
        });
        match rendering.await {
            Ok(preview) => preview.map(Some),
            Err(error) if error.is_panic() => {
                tracing::warn!(%media_type, "a decoder panicked over a picture, which is refused");
                Err(UploadRefusal::DamagedPicture.into())
            }
            Err(error) => Err(Error::stopped(&error)),
        }
    }
}

fn write_spool(
    spool: &SpoolFolder,
    key: &SealKey,
    object: BlobObject,
    random: &dyn Random,
    (mut pieces, slot): (mpsc::Receiver<Bytes>, Arc<UploadSlot>),
) -> Result<SpooledFile> {
    let mut writer = spool.begin(key, object, random)?;
    while let Some(piece) = pieces.blocking_recv() {
        writer.push(&piece)?;
    }
    // Nothing comes any more. Whoever was refused may send the next while the disk is waited for.
    drop(slot);
    writer.finish()
}

/// A file on its way, plain, piece by piece.
pub(super) fn open_spooled(
    file: &mut impl Read,
    key: &SealKey,
    object: BlobObject,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let key = SealKey::from_bytes(key.bytes()).ok_or(Error::Damaged(object.blob))?;
    let (mut opener, mut piece, mut plain) = (ChunkOpener::new(key, object), vec![0; 64 * 1024], Vec::new());
    loop {
        let length = file
            .read(&mut piece)
            .map_err(|error| Error::Storage(format!("a file on its way can't be read: {error}")))?;
        if length == 0 {
            break;
        }
        opener.push(&piece[..length], &mut plain)?;
        take(&plain)?;
        plain.clear();
    }
    opener.finish(&mut plain)?;
    take(&plain)
}
