//! What models were told, where the tenant keeps that. Whoever opens somebody else's is written down.

mod list;

pub use list::{
    ListStoredPrompts, ListStoredPromptsInput, StoredPromptMessageView, StoredPromptRoleView,
    StoredPromptView,
};
