//! Errors: [`Error`] for whoever starts the server, [`ApiError`] for whoever calls it.

mod api;
mod code;

pub use api::{ApiError, ErrorBody, ErrorDetail};
pub use code::ApiErrorCode;

/// Why the server, its metrics or its logs could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{address} is already in use\nhint: stop the program that listens there, or choose another with server.listen"
    )]
    AddressInUse { address: String },
    #[error(
        "not allowed to listen on {address}\nhint: ports below 1024 need rights; choose a higher one with server.listen and put a proxy before it"
    )]
    AddressRefused { address: String },
    #[error(
        "can't listen on {address}: {source}\nhint: server.listen wants an address of this machine and a port, such as 127.0.0.1:8400 or [::]:8400"
    )]
    AddressUnusable { address: String, source: std::io::Error },
    #[error(
        "the log filter `{filter}` can't be read: {reason}\nhint: write a level, or target=level pairs: info,munshi_store=debug"
    )]
    Filter { filter: String, reason: String },
    #[error("{0} was already set up in this process")]
    AlreadySetUp(&'static str),
}
