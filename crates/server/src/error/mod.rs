//! Errors: [`Error`] for whoever starts the server, [`ApiError`] for whoever calls it.

mod api;
mod code;

pub use api::{ApiError, ErrorBody, ErrorDetail};
pub use code::ApiErrorCode;

/// Why the server, its metrics or its logs could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{address} is already in use\nhint: stop the other program, or set server.listen to another address"
    )]
    AddressInUse { address: String },
    #[error(
        "permission denied to listen on {address}\nhint: ports below 1024 need privileges; set server.listen to a higher port and use a reverse proxy"
    )]
    AddressRefused { address: String },
    #[error(
        "can't listen on {address}: {source}\nhint: set server.listen to a local address and port, such as 127.0.0.1:8400 or [::]:8400"
    )]
    AddressUnusable { address: String, source: std::io::Error },
    #[error(
        "invalid log filter `{filter}`: {reason}\nhint: use a level or target=level pairs, such as info,munshi_store=debug"
    )]
    Filter { filter: String, reason: String },
    #[error("{0} is already set up in this process")]
    AlreadySetUp(&'static str),
}
