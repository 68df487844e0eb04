//! What can go wrong in the books, by what a caller does about it.

use munshi_identity::ContactAddressError;
use munshi_types::MoneyError;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    #[error(transparent)]
    Money(#[from] MoneyError),

    #[error(transparent)]
    Phone(#[from] ContactAddressError),

    /// What was named is not in these books.
    #[error("there is no {what} {which} in the books")]
    Missing { what: &'static str, which: String },

    /// The act itself can't be booked as it is.
    #[error("{0}")]
    Invalid(String),

    /// The same key was used for something else before.
    #[error("entry {number} was booked under this key, and it is another one: use a key of its own")]
    KeyTaken { number: i64 },

    #[error("entry {number} is cancelled already: {reason}")]
    AlreadyCancelled { number: i64, reason: String },

    /// A tax invoice needs the rate of what was sold.
    #[error("the GST rate of {what} is not known: say it, such as 5%")]
    NoRate { what: String },

    /// A rate of GST that no law has.
    #[error("{0}")]
    BadRate(String),

    /// A number of the tax office that can't be one.
    #[error("{0}")]
    BadGstin(String),

    /// A shop with a GSTIN says on its bills who and where it is.
    #[error("the bill would not say who sells: say the shop's {what} first")]
    NoSeller { what: String },

    /// A file that can't be read as a whole; its rows' errors are in the report instead.
    #[error("{0}")]
    File(String),
}

impl Error {
    pub(crate) fn missing(what: &'static str, which: &impl ToString) -> Self {
        Self::Missing { what, which: which.to_string() }
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid(what.into())
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
