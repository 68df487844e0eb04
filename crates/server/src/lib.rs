//! The HTTP server that knows no route: it accepts connections, gives every request and error its shape, and tells who
//! is calling.
//!
//! Routes, pages and protocols are `munshi-web`'s, which puts a router between [`middleware::limit`] and
//! [`middleware::wrap`] and hands it to an [`HttpListener`]. No SQL and no settings are read here.
//!
//! # Layout
//! - [`http_listener`]: binds, serves and stops; [`options`]: what an operator can tune, and a connection's [`Peer`]
//! - [`middleware`]: what every request passes through, in two lists
//! - [`error`]: [`ApiErrorCode`] (the table of codes and statuses), [`ApiError`], and [`Error`] for the binary;
//!   [`error_conversions`]: errors of the floors below, as answers
//! - [`json`]: [`Json`], whose refusals say what was expected; `fields`: what a body may hold; [`parameters`]: ids in
//!   paths, pages of lists, texts from outside
//! - [`access`]: what requests are authenticated with; [`limits`]: how often something may be asked for, counted on this
//!   node; [`client_address`]: which address a request is counted by
//! - [`account`]: operators in their browsers; [`oidc`]: sign-in with another service; [`visitor`]: somebody at a page
//! - [`cookies`], [`local_path`]: what a browser keeps, and where it may be sent
//! - [`html_page`], [`page_error`]: a page as an answer, and a no as one; [`phrases`], [`page_phrases`]: what pages say
//! - [`http_client`]: what is asked of other servers
//! - [`readiness`], [`metrics`]: what the probes tell; [`telemetry`]: log lines and traces of the whole process
//!
//! # To add an extractor
//! Write `impl<S: AccessSource> FromRequestParts<S>`, and box a function without type parameters in it: what is generic is
//! compiled again for every handler.

pub mod access;
pub mod account;
pub mod client_address;
pub mod cookies;
pub mod error;
pub mod error_conversions;
mod fields;
pub mod html_page;
pub mod http_client;
pub mod http_listener;
pub mod json;
pub mod limits;
pub mod local_path;
pub mod metrics;
pub mod middleware;
pub mod oidc;
mod operation_errors;
pub mod options;
pub mod page_error;
pub mod page_phrases;
pub mod parameters;
pub mod phrases;
pub mod readiness;
pub mod telemetry;
pub mod visitor;

pub use access::Access;
pub use error::{ApiError, ApiErrorCode, Error, ErrorBody, ErrorDetail};
pub use http_listener::{HttpListener, ServerShutdownReport};
pub use json::Json;
pub use metrics::Metrics;
pub use middleware::RequestId;
pub use options::{MonitorAccess, Peer, ServerOptions};
pub use readiness::{Readiness, ReadinessCheck};
