//! A service's OpenAPI document as a connector: each operation a tool, served on a line in this process, so that it is
//! listed, held, supervised and called as every other.
//!
//! What a `GET` does is a look, all else is a write; the operator's word wins, as always. Calls go to the hosts that were
//! allowed, over addresses that everybody reaches, and follow nobody elsewhere.
//!
//! # Layout
//! - [`OpenApiService`]: the server's side; `document`: the document and what it refers to; `schema`: schemas that are whole
//!   by themselves; `operation`: one operation as a tool; `parameter`: its arguments
//! - `credentials`: how it lets us in; `addresses`: where calls go
//! - `request`: a call on its way; `reply`: what came back; `paging`: how to ask for what comes next; `breaker`: leaving a
//!   service alone that keeps failing

mod addresses;
mod breaker;
mod credentials;
mod document;
mod operation;
mod paging;
mod parameter;
mod reply;
mod request;
mod schema;
mod service;

pub use addresses::ServiceDocumentSource;
pub(crate) use addresses::{ServiceAddresses, parse_host};
pub(crate) use credentials::ServiceCredentialSet;
pub use document::check_document;
pub(crate) use service::{OpenApiService, OpenApiServiceParts};

/// Of a document, in bytes.
pub(crate) const LARGEST_DOCUMENT: usize = 8 * 1024 * 1024;
/// Of one that is stored with the connector itself.
pub const LARGEST_STORED_DOCUMENT: usize = 1024 * 1024;
/// Of an answer, in bytes.
const LARGEST_ANSWER: usize = 1024 * 1024;
