//! A service's OpenAPI document as a connector: each operation a tool, served on a line in this process, so that it is
//! listed, held, supervised and called as every other.
//!
//! What a `GET` does is a look, all else is a write; the operator's word wins, as always. Calls go to the hosts that were
//! allowed, over addresses that everybody reaches, and follow nobody elsewhere.
//!
//! # Layout
//! - [`OpenApiService`]: the server's side; `document`: the document and what it refers to; `schema`: schemas that are whole
//!   by themselves; `operation`: one operation as a tool; `parameter`: its arguments
//! - `login`: how it lets us in; `place`: where calls go
//! - `request`: a call on its way; `reply`: what came back; `paging`: how to ask for what comes next; `breaker`: leaving a
//!   service alone that keeps failing

mod breaker;
mod document;
mod login;
mod operation;
mod paging;
mod parameter;
mod place;
mod reply;
mod request;
mod schema;
mod service;

pub(crate) use login::ServiceCredentialSet;
pub use place::ServiceDocumentSource;
pub(crate) use place::{ServiceAddresses, listed};
pub(crate) use service::{OpenApiService, OpenApiServiceParts};

/// Of a document, in bytes.
pub(crate) const LARGEST_DOCUMENT: usize = 8 * 1024 * 1024;
/// Of an answer, in bytes.
const LARGEST_ANSWER: usize = 1024 * 1024;
