//! What can go wrong with keys, by what a caller does about it.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    /// What was given can't be used as it is; the words say what can.
    #[error("{0}")]
    Invalid(String),

    /// A key or the store of keys is not there, not readable, too widely readable, or not the right one. Somebody has to look
    /// after it; the words say which and how.
    #[error("{0}")]
    Key(String),

    /// What is stored does not open with the right key: it was altered, or belongs elsewhere.
    #[error("{what} can't be decrypted: it was altered, or belongs elsewhere")]
    Tampered { what: String },

    /// A file with a key can't be read or written.
    #[error("{} can't be {doing}: {why}", path.display())]
    File { path: PathBuf, doing: &'static str, why: String },
}

impl Error {
    /// As a unit of work meets it. What somebody can look after is an outage: nothing was written, and the unit may pass later.
    pub(crate) fn into_store(self) -> munshi_store::Error {
        match self {
            Self::Store(error) if error.is_outage() => {
                munshi_store::Error::KeysUnavailable(error.to_string())
            }
            Self::Store(error) => error,
            Self::Tampered { .. } => munshi_store::Error::Decode(self.to_string()),
            Self::Invalid(_) | Self::Key(_) | Self::File { .. } => {
                munshi_store::Error::KeysUnavailable(self.to_string())
            }
        }
    }

    pub(crate) fn file(path: &Path, doing: &'static str, why: &std::io::Error) -> Self {
        Self::File { path: path.to_owned(), doing, why: why.to_string() }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
