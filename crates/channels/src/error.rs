//! What can go wrong, by what a caller does about it. Why a message was not sent is told by `SendFault`.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    #[error(transparent)]
    Jobs(#[from] munshi_jobs::Error),

    #[error(transparent)]
    Conversations(#[from] munshi_conversations::Error),

    #[error(transparent)]
    Tiers(#[from] munshi_tiers::Error),

    /// What was declared can't work as it is; the words say what can.
    #[error("{0}")]
    Invalid(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong in a job may pass: it is tried again.
impl From<Error> for munshi_jobs::JobFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            Error::Jobs(error) => error.into(),
            Error::Conversations(error) => error.into(),
            error => Self::Passing(error.to_string()),
        }
    }
}
