//! What the routes under `/v1` are made of, and what they share.
//!
//! # Layout
//! - [`Api`]: the parts, made by the binary; `access`: the one table of which route needs what, and [`AuthorizedCaller`](access::AuthorizedCaller),
//!   the extractor that asks for it
//! - `turn_errors`: errors of turns, as answers; those of the floors below are `munshi-server`'s
//! - `speaker`: for whom a key may speak; `stream`: a run's events on their way to a client
//! - `chat_admission`: whether a message is taken; `run_lookup`: a turn, for a key that may hear of it
//! - [`limits`]: how often something may be asked for

pub(crate) mod access;
pub(crate) mod chat_admission;
pub(crate) mod run_lookup;
pub(crate) mod speaker;
pub(crate) mod stream;
pub(crate) mod turn_errors;

pub use munshi_server::access::CodeKeySource;
pub use munshi_server::limits;

pub use crate::app::api::{Api, ApiParts, ApiState, StreamPace};
