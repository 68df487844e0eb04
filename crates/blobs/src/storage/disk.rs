//! Files in a folder: written beside, synced, then renamed, so that a name stands for a whole file or for none.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;

use super::{BlobStore, SealedStream, name_object};
use crate::chunk_cipher::BlobObject;
use crate::error::{Error, Result};
use crate::spool::{SpooledFile, make_private_folder};

/// Read at once.
const PIECE: usize = 64 * 1024;

/// One folder for each tenant. The folder for files on their way must be on the same disk.
#[derive(Debug)]
pub struct DiskStore {
    folder: PathBuf,
}

impl DiskStore {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn path(&self, object: BlobObject) -> PathBuf {
        self.folder.join(name_object(object))
    }
}

#[async_trait]
impl BlobStore for DiskStore {
    async fn put(&self, object: BlobObject, file: SpooledFile) -> Result<()> {
        let path = self.path(object);
        run_blocking(move || {
            let folder = path.parent().unwrap_or(Path::new("."));
            make_private_folder(folder)?;
            file.rename(&path)?;
            sync_folder(folder)?;
            // The tenant's own folder may be new.
            folder.parent().map_or(Ok(()), sync_folder)
        })
        .await
    }

    async fn get(&self, object: BlobObject) -> Result<Option<SealedStream>> {
        let path = self.path(object);
        let opened = run_blocking(move || match File::open(&path) {
            Ok(file) => Ok(Some((file, path))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(&path, "read", &error)),
        });
        Ok(opened.await?.map(|file| stream::try_unfold(file, read_piece).boxed()))
    }

    async fn has(&self, object: BlobObject) -> Result<bool> {
        let path = self.path(object);
        run_blocking(move || path.try_exists().map_err(|error| Error::file(&path, "read", &error))).await
    }

    async fn delete(&self, object: BlobObject) -> Result<()> {
        let path = self.path(object);
        run_blocking(move || match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file(&path, "deleted", &error)),
            _ => Ok(()),
        })
        .await
    }
}

async fn read_piece((mut file, path): (File, PathBuf)) -> Result<Option<(Bytes, (File, PathBuf))>> {
    run_blocking(move || {
        let mut piece = vec![0; PIECE];
        let length = file.read(&mut piece).map_err(|error| Error::file(&path, "read", &error))?;
        piece.truncate(length);
        Ok((length > 0).then(|| (Bytes::from(piece), (file, path))))
    })
    .await
}

fn sync_folder(folder: &Path) -> Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Error::file(folder, "synced", &error))
}

async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::stopped(&error))?
}
