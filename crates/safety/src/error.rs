//! What can go wrong, by what a caller does about it.

use std::path::PathBuf;

use crate::budget::BudgetRefusal;
use crate::rate_limits::RateLimitHit;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    /// What was given can't be used as it is, be it a file, a name, a secret or a limit: the words say what can.
    #[error("{0}")]
    Invalid(String),

    /// A limit is used up. The unit may go on: nothing of the reservation was written.
    #[error("{0}")]
    OverBudget(Box<BudgetRefusal>),

    /// Something happened too often. The unit is to be undone: what else it counted must not be kept.
    #[error("{0}")]
    RateLimited(RateLimitHit),

    /// The installation's key is not there, not readable, too widely readable, or not the right one. Somebody has to
    /// look after the key; the words say which and how.
    #[error("{0}")]
    Key(String),

    /// A secret that was never set, or was removed.
    #[error("there is no secret called {name}: set it with `munshi vault set {name}{flag}`")]
    NoSecret { name: String, flag: &'static str },

    /// What is stored does not open with the right key: it was altered, or belongs to another tenant or name.
    #[error("{what} can't be decrypted: it was altered, or belongs elsewhere. Set it again")]
    Tampered { what: String },

    /// The same administrative request is being carried out. The unit is to be undone.
    #[error("the same request is being carried out")]
    UnderWay,

    /// A file beside the database can't be read or written.
    #[error("{} can't be {doing}: {why}", path.display())]
    File { path: PathBuf, doing: &'static str, why: String },
}

impl From<munshi_keys::Error> for Error {
    fn from(error: munshi_keys::Error) -> Self {
        match error {
            munshi_keys::Error::Store(error) => Self::Store(error),
            munshi_keys::Error::Invalid(what) => Self::Invalid(what),
            munshi_keys::Error::Key(what) => Self::Key(what),
            munshi_keys::Error::Tampered { what } => Self::Tampered { what },
            munshi_keys::Error::File { path, doing, why } => Self::File { path, doing, why },
        }
    }
}

impl Error {
    pub(crate) fn file(path: &std::path::Path, doing: &'static str, why: &std::io::Error) -> Self {
        Self::File { path: path.to_owned(), doing, why: why.to_string() }
    }
}

/// What went wrong in a job may pass: it is tried again.
impl From<Error> for munshi_jobs::JobFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            error => Self::Passing(error.to_string()),
        }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
