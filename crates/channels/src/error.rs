//! What can go wrong, by what a caller does about it. Why a message was not sent is told by `SendFault`.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    #[error(transparent)]
    Tiers(#[from] munshi_tiers::Error),

    /// What was declared can't work as it is; the words say what can.
    #[error("{0}")]
    Invalid(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
