//! Files over HTTP: taken as a raw body or from a form, and given out under addresses that expire.
//!
//! - `body`: a request's body as an upload; `multipart`: the file of a form, as it comes
//! - `errors`: what goes wrong with files, as answers
//! - `response`: a file as it leaves

pub(crate) mod body;
pub(crate) mod errors;
mod multipart;
pub(crate) mod response;
