//! What a program brings with a message: the conversation as it knows it, and tools of its own.
//!
//! A program that keeps the conversation itself sends all of it each time. That is the context of one run; what is
//! stored of the session is not mixed in, and nothing of it becomes a message of the session. What the program says was
//! said is looked for in the session: words that nobody here has said or heard are others' words, and taint the run.
//!
//! # Layout
//! - `context`: [`ClientContext`] and its parts, as they are stored with the run until it ends; `rows`: where
//! - `overlay`: the program's conversation laid over the stored one
//! - `client_calls`: calls of the program's tools, and how a run goes on from their answers

mod client_calls;
mod context;
mod overlay;
mod rows;

pub use self::client_calls::{ClientCallRequest, ClientResumption, call_id, find_resumption};
pub use self::context::{
    ClientCallResult, ClientCallRound, ClientContext, ClientHistoryItem, ClientToolChoice, ClientToolSpec,
};
pub use self::overlay::{ConversationOverlay, overlay};
pub use self::rows::find;
pub(crate) use self::rows::{add, delete, store_snapshot};
