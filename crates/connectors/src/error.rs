//! What can go wrong, by what a caller does about it.

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    #[error(transparent)]
    Safety(#[from] munshi_safety::Error),

    /// The other side can't be reached or does not speak as it should; it is tried again.
    #[error("{0}")]
    Unreachable(String),

    /// It did not answer in the time it has.
    #[error("{0}")]
    TooSlow(String),

    /// What was declared can't work as it is; the words say what can.
    #[error("{0}")]
    Invalid(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
