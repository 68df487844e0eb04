//! What colleagues tell the agent of a conversation. The person never sees it.

mod add;
mod list;
mod view;

pub use add::{WhisperInSession, WhisperInSessionInput};
pub use list::{ListWhispers, ListWhispersInput};
pub use view::WhisperView;
