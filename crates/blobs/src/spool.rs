//! Files on their way: sealed into a file of our own while they come in, so that their length and hash are known before a store gets them.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use munshi_keys::SealKey;
use munshi_types::{Id, Random, Timestamp};
use sha2::{Digest, Sha256};

use crate::chunk_cipher::{BlobObject, ChunkSealer};
use crate::error::{Error, Result};
use crate::refusal::UploadRefusal;

/// What the name of a file on its way ends with.
const ENDING: &str = "partial";

/// Where files on their way lie.
#[derive(Clone, Debug)]
pub(crate) struct SpoolFolder {
    path: PathBuf,
    /// Where less of its disk is free, nothing is begun.
    free_bytes: u64,
}

/// A sealed file that is whole and on disk. It goes when this is dropped, unless it was renamed.
#[derive(Debug)]
pub struct SpooledFile {
    path: SpoolPath,
    pub(crate) length: u64,
    /// Of the sealed bytes.
    pub(crate) sha256: [u8; 32],
}

/// A file that goes with its owner.
#[derive(Debug)]
struct SpoolPath(PathBuf);

/// Writes one.
pub(crate) struct SpoolWriter {
    path: SpoolPath,
    file: File,
    sealer: ChunkSealer,
    length: u64,
    hash: Sha256,
}

impl SpoolFolder {
    pub(crate) fn new(path: PathBuf, free_bytes: u64) -> Self {
        Self { path, free_bytes }
    }

    /// A full disk stops more than files: the database writes to it too. Where nobody can tell how much is free, the write will.
    fn check_free_space(&self) -> Result<()> {
        let Ok(disk) = rustix::fs::statvfs(&self.path) else { return Ok(()) };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < self.free_bytes { Err(UploadRefusal::DiskFull.into()) } else { Ok(()) }
    }

    pub(crate) fn begin(
        &self,
        file_key: &SealKey,
        object: BlobObject,
        random: &dyn Random,
    ) -> Result<SpoolWriter> {
        make_private_folder(&self.path)?;
        self.check_free_space()?;
        let name = format!("{}-{}.{ENDING}", object.blob.as_uuid().simple(), object.variant.byte());
        let path = self.path.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|error| Error::file(&path, "made", &error))?;
        let (sealer, header) = ChunkSealer::new(file_key, object, random)?;
        let mut writer = SpoolWriter { path: SpoolPath(path), file, sealer, length: 0, hash: Sha256::new() };
        let SpoolWriter { path, file, length, hash, .. } = &mut writer;
        append(file, &path.0, length, hash, &header)?;
        Ok(writer)
    }

    /// Removes what a process left that was killed. What is on its way is younger.
    pub(crate) fn remove_leftovers(&self, now: Timestamp, older_than: Duration) -> Result<u32> {
        let failed = |error: std::io::Error| Error::file(&self.path, "tidied", &error);
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            entries => entries.map_err(failed)?,
        };
        let before = now.minus(older_than);
        let mut removed = 0;
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let is_ours = entry.path().extension().is_some_and(|ending| ending == ENDING);
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let is_old = modified.is_ok_and(|modified| to_timestamp(modified) < before);
            if is_ours && is_old {
                match fs::remove_file(entry.path()) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
                    _ => removed += 1,
                }
            }
        }
        Ok(removed)
    }
}

impl SpoolWriter {
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<()> {
        let Self { path, file, sealer, length, hash } = self;
        sealer.push(piece, &mut |sealed| append(file, &path.0, length, hash, sealed))
    }

    /// The whole file, on disk.
    pub(crate) fn finish(self) -> Result<SpooledFile> {
        let Self { path, mut file, sealer, mut length, mut hash } = self;
        sealer.finish(&mut |sealed| append(&mut file, &path.0, &mut length, &mut hash, sealed))?;
        file.sync_all().map_err(|error| Error::file(&path.0, "written", &error))?;
        Ok(SpooledFile { path, length, sha256: hash.finalize().into() })
    }
}

fn append(file: &mut File, path: &Path, length: &mut u64, hash: &mut Sha256, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes).map_err(|error| Error::file(path, "written", &error))?;
    hash.update(bytes);
    *length += bytes.len() as u64;
    Ok(())
}

impl SpooledFile {
    pub(crate) fn open(&self) -> Result<File> {
        File::open(&self.path.0).map_err(|error| Error::file(&self.path.0, "read", &error))
    }

    pub(crate) fn rename(self, to: &Path) -> Result<()> {
        fs::rename(&self.path.0, to).map_err(|error| Error::file(to, "written", &error))
    }
}

impl Drop for SpoolPath {
    fn drop(&mut self) {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::warn!(%error, file = %self.0.display(), "a file on its way is left; the sweep removes it");
            }
            _ => {}
        }
    }
}

/// A folder that nobody else may look into.
pub(crate) fn make_private_folder(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| Error::file(folder, "made", &error))
}

fn to_timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::EPOCH.plus(since)
}
