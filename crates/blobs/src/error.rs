//! What can go wrong with files, by what a caller does about it.

use std::io::ErrorKind;
use std::path::Path;

use munshi_types::BlobId;

use crate::refusal::UploadRefusal;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Database(#[from] munshi_store::Error),

    /// What was given can't be taken; whoever gave it can give something else.
    #[error(transparent)]
    Refused(#[from] UploadRefusal),

    /// There is no such file, or it is somebody else's.
    #[error("there is no file {0} here: upload it first, and name the id that the upload returned")]
    Unknown(BlobId),

    /// The file was promised and its bytes are not in the store: the store is older than the database, or another one's.
    #[error("the content of file {0} is missing from the blob store: restore the store from its own copy")]
    Missing(BlobId),

    /// The bytes do not open with the file's key: altered, cut short, or another file's.
    #[error("the content of file {0} can't be decrypted: it was altered, or belongs elsewhere")]
    Damaged(BlobId),

    /// The disk or the S3 server does not do its part. It may later.
    #[error("the blob store failed: {0}")]
    Storage(String),

    /// The S3 server did not answer in time: what was asked of it may still happen.
    #[error("the blob store did not answer in time: {0}")]
    StorageTimeout(String),

    /// The address of a file was altered, is not ours, or has expired.
    #[error("this address is invalid or has expired: load the conversation again for a new one")]
    Address,
}

impl Error {
    pub(crate) fn file(path: &Path, doing: &str, why: &std::io::Error) -> Self {
        match why.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => UploadRefusal::DiskFull.into(),
            _ => Self::Storage(format!("{} can't be {doing}: {why}", path.display())),
        }
    }

    pub(crate) fn stopped(error: &tokio::task::JoinError) -> Self {
        Self::Storage(format!("a thread of the blob store stopped: {error}"))
    }

    /// Whether the same may pass later without anybody changing what they ask.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => error.is_retryable(),
            Self::Storage(_)
            | Self::StorageTimeout(_)
            | Self::Refused(UploadRefusal::TooManyUploads | UploadRefusal::DiskFull) => true,
            _ => false,
        }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
