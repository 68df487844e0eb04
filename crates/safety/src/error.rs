//! What can go wrong here, by what a caller does about it.

use crate::budget::Refused;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    /// A limit is used up. The unit may go on: nothing of the reservation was written.
    #[error("{0}")]
    OverBudget(Box<Refused>),

    /// A limit or plan that can't be set; the text says what can.
    #[error("{0}")]
    Limit(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
