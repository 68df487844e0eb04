//! What can go wrong, by what a caller does about it.

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    #[error(transparent)]
    Audit(#[from] munshi_safety::Error),

    #[error(transparent)]
    Jobs(#[from] munshi_jobs::Error),

    /// Files of old messages.
    #[error("{0}")]
    Archive(String),

    /// It names a key that is no person's: nothing is destroyed for it. Somebody has to look at it.
    #[error("{0}")]
    Refused(String),

    /// An export does not go on from there.
    #[error(
        "must be the `next` of the previous page; begin again where the person was merged with others meanwhile"
    )]
    InvalidPosition,

    /// The task that waited for the keys was stopped.
    #[error("erasing was interrupted: {0}")]
    Interrupted(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
