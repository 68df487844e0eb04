//! What can go wrong in the store, by what a caller does about it.

use std::sync::Arc;

/// The cause beneath an error, kept for the log and never shown to a client.
type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Cloned when one cause ends many units at once, such as a failed group commit.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Nothing was written. Try again later; readiness is false meanwhile.
    #[error("the database can't be reached: {what}")]
    Unavailable { what: String, source: Option<Cause> },

    /// Nothing was written. Someone has to make room.
    #[error("the disk that holds the database is full: free some space, then try again")]
    Full,

    /// The file or a page of it is not a sound database. Restore a backup.
    #[error("the database is damaged: {0}. Run `munshi doctor`, then `munshi restore` with a backup")]
    Corrupt(String),

    /// Nothing was written; the same unit may pass when tried again.
    #[error("the database is busy: {0}")]
    Busy(String),

    /// The connection broke while committing: the unit either happened whole or not at all, and nobody knows which.
    #[error("the connection was lost during the commit; whether it was saved is unknown")]
    OutcomeUnknown,

    /// A unique rule refused the row.
    #[error("already exists: {constraint}")]
    Conflict { constraint: String },

    /// A foreign key, check or not-null rule, or row-level security, refused the row.
    #[error("the database refused the row: {0}")]
    Refused(String),

    /// A row or value is not what the caller said it would be.
    #[error("unexpected value in the database: {0}")]
    Decode(String),

    /// The keys that text is sealed with can't be reached. Nothing was written; the database itself is well.
    #[error("the keys of encrypted text can't be reached: {0}")]
    KeysUnavailable(String),

    /// The store of keys never had a key that the database names: it is older than the database, or another one's. Nothing was written;
    /// with the right store the same unit passes.
    #[error("{0}")]
    UnknownKey(String),

    /// The key of what is stored was destroyed: a person was forgotten. Nothing brings it back.
    #[error("{0} was forgotten: its key was destroyed")]
    Forgotten(String),

    /// An erasure names a key that is no person's. No key was destroyed, and none will be: somebody has to look at it.
    #[error("{0}")]
    ErasureRefused(String),

    /// The calling code is wrong: a malformed statement, a missing parameter, a unit inside a unit.
    #[error("programming error in a unit of work: {0}")]
    Misuse(String),

    /// The unit panicked. It was rolled back; its neighbours were not.
    #[error("a unit of work panicked and was rolled back: {0}")]
    Panicked(String),

    /// This binary is older than the database, or a migration was altered.
    #[error("{0}")]
    Schema(String),

    /// The address of the database can't be used as written.
    #[error("{0}")]
    Address(String),
}

impl Error {
    pub(crate) fn unavailable(
        what: impl Into<String>,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self::Unavailable { what: what.into(), source: Some(Arc::new(source)) }
    }

    pub(crate) fn closed() -> Self {
        Self::Unavailable { what: "the store is shutting down".to_owned(), source: None }
    }

    /// Whether the database is ailing, which readiness tells.
    pub(crate) fn is_ailing_store(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Full | Self::Corrupt(_) | Self::OutcomeUnknown)
    }

    /// Whether the store or its keys are away, as opposed to one unit having been refused.
    pub fn is_outage(&self) -> bool {
        self.is_ailing_store() || self.is_without_keys()
    }

    /// Whether the very same unit may pass when run again, and running it again is safe.
    pub fn is_retryable(&self) -> bool {
        self.is_without_keys() || matches!(self, Self::Unavailable { .. } | Self::Full | Self::Busy(_))
    }

    /// Whether keys are away and the database itself is well.
    pub(crate) fn is_without_keys(&self) -> bool {
        matches!(self, Self::KeysUnavailable(_) | Self::UnknownKey(_))
    }

    /// Whether what is stored can't be read, now or ever: a row that is not what it should be, or that was forgotten. The unit
    /// may go on.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Decode(_) | Self::Forgotten(_))
    }

    /// The word used in metrics.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "unavailable",
            Self::Full => "full",
            Self::Corrupt(_) => "corrupt",
            Self::Busy(_) => "busy",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Conflict { .. } => "conflict",
            Self::Refused(_) => "refused",
            Self::Decode(_) => "decode",
            Self::KeysUnavailable(_) => "keys_unavailable",
            Self::UnknownKey(_) => "unknown_key",
            Self::Forgotten(_) => "forgotten",
            Self::ErasureRefused(_) => "erasure_refused",
            Self::Misuse(_) => "misuse",
            Self::Panicked(_) => "panicked",
            Self::Schema(_) => "schema",
            Self::Address(_) => "address",
        }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
