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

    /// It lets nobody in without a login, and there is none that it takes.
    #[error("{0}")]
    WantsLogin(String),

    /// A login came to nothing; the words say why.
    #[error("{0}")]
    NoLogin(String),

    /// What was declared can't work as it is; the words say what can.
    #[error("{0}")]
    Invalid(String),
}

impl From<munshi_http::HttpClientError> for Error {
    fn from(error: munshi_http::HttpClientError) -> Self {
        Self::Unreachable(format!("creating the HTTP client failed: {error}"))
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
