//! The API that other makers' programs speak: `/v1/models`, `/v1/chat/completions` and `/v1/embeddings`, as OpenAI's
//! clients expect them. A binding is a model.
//!
//! What is answered here is a turn like any other: stored before it is answered, paid, checked, written down. What the
//! client sends as its history is the context of that turn and becomes no message.
//!
//! # Layout
//! - `errors`: errors in OpenAI's form, and [`Refusal`](form::Refusal), which a handler returns
//! - `body`: JSON in, with the place of what does not fit; `request`: what may stand in it; `unsupported_fields`: what of it is not done
//! - `message_parser`: messages become a turn and what was brought with it; `client_tools`: the client's tools
//! - `speaker`: who speaks
//! - `completion`: completions and their pieces; `stream`: the pieces as they come; `outcome`: how a turn ended, in OpenAI's words

pub(crate) mod body;
pub(crate) mod client_tools;
pub(crate) mod completion;
pub(crate) mod errors;
pub(crate) mod message_parser;
pub(crate) mod outcome;
pub(crate) mod request;
pub(crate) mod speaker;
pub(crate) mod stream;
pub(crate) mod unsupported_fields;
