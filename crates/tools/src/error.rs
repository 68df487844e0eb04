//! What can go wrong with the dispatcher itself; a tool's failure is an answer, not an error.

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Safety(#[from] munshi_safety::Error),

    #[error(transparent)]
    Store(#[from] munshi_store::Error),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
