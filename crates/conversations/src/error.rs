//! What can go wrong with a turn that a caller acts on.

use munshi_types::tier::TierName;
use munshi_types::{RunId, TenantName};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address leads nowhere.
    #[error("no binding found for `{0}`")]
    NoBinding(String),
    #[error("tenant {tenant} is paused; incoming messages are not answered until it is resumed")]
    TenantPaused { tenant: TenantName },
    #[error("tenant {tenant} is archived")]
    TenantArchived { tenant: TenantName },
    #[error("binding {binding} is archived")]
    BindingArchived { binding: TierName },
    /// The message itself can't be taken; what to change is said.
    #[error("{0}")]
    Unfit(String),
    #[error("run not found")]
    NoRun,
    /// Another process has taken the run up; this one has nothing more to say.
    #[error("run {0} was taken over by another process")]
    LostRun(RunId),
    /// A message came behind the run that its turn has not looked at, and might take in. Nothing was stored.
    #[error("another message came while run {0} was answered")]
    Followed(RunId),
    /// What was asked for has to do with a conversation, and the run takes part in none.
    #[error("run {0} takes part in no conversation")]
    NoConversation(RunId),
    /// Nothing was removed. Somebody has to look after the folder.
    #[error("writing the archive failed: {0}")]
    Archive(String),
    #[error(transparent)]
    Store(#[from] munshi_store::Error),
    #[error(transparent)]
    Identity(#[from] munshi_identity::Error),
    #[error(transparent)]
    Safety(#[from] munshi_safety::Error),
    #[error(transparent)]
    Tiers(#[from] munshi_tiers::Error),
    #[error(transparent)]
    Tools(#[from] munshi_tools::Error),
    #[error(transparent)]
    Jobs(#[from] munshi_jobs::Error),
}

impl Error {
    /// As the store's own error, for a unit of work of another crate.
    pub fn into_store(self) -> munshi_store::Error {
        match self {
            Self::Store(error) => error,
            other => munshi_store::Error::Refused(other.to_string()),
        }
    }

    /// Whether the same may pass in a moment. What was begun has its id, so that going on again does nothing twice.
    pub fn is_transient(&self) -> bool {
        let store = match self {
            Self::Store(error)
            | Self::Identity(munshi_identity::Error::Store(error))
            | Self::Safety(munshi_safety::Error::Store(error))
            | Self::Tiers(munshi_tiers::Error::Store(error))
            | Self::Tools(munshi_tools::Error::Store(error))
            | Self::Tools(munshi_tools::Error::Safety(munshi_safety::Error::Store(error)))
            | Self::Jobs(munshi_jobs::Error::Store(error)) => error,
            _ => return false,
        };
        store.is_retryable() || matches!(store, munshi_store::Error::OutcomeUnknown)
    }
}

/// Why a unit of work is undone: for a reason that is no failure, or since something failed.
#[derive(Debug)]
pub enum Rollback<R> {
    Because(R),
    Failed(Error),
}

impl<R, E: Into<Error>> From<E> for Rollback<R> {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
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
