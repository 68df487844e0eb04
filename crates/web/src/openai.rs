//! The API that other makers' programs speak: `/v1/models`, `/v1/chat/completions` and `/v1/embeddings`, as OpenAI's
//! clients expect them. A binding is a model.
//!
//! What is answered here is a turn like any other: stored before it is answered, paid, checked, written down. What the
//! client sends as its history is the context of that turn and becomes no message.
//!
//! # Layout
//! - `form`: errors in OpenAI's form, and [`Refusal`](form::Refusal), which a handler returns
//! - `body`: JSON in, with the place of what does not fit; `request`: what may stand in it; `fields`: what of it is not done
//! - `reading`: messages become a turn and what was brought with it; `offered`: the client's tools
//! - `person`: who speaks; `retries`: the same request sent again by a client's library
//! - `answer`: completions and their pieces; `stream`: the pieces as they come; `told`: how a turn ended, in OpenAI's words

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod fields;
pub(crate) mod form;
pub(crate) mod offered;
pub(crate) mod person;
pub(crate) mod reading;
pub(crate) mod request;
pub(crate) mod retries;
pub(crate) mod stream;
pub(crate) mod told;

/// Below these routes errors have OpenAI's form.
const PATHS: [&str; 4] = ["/v1/models", "/v1/models/{model}", "/v1/chat/completions", "/v1/embeddings"];

pub(crate) fn speaks(path: &str) -> bool {
    PATHS.contains(&path)
}
