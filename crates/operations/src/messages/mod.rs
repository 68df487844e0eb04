//! What was said in conversations. Whoever opens somebody else's is written down.

mod list;
mod search;

pub use list::{
    AttachedFileView, ListMessages, ListMessagesInput, LostFileView, MessageDeliveryView, MessageView,
};
pub use search::{MessageHitView, SearchMessages, SearchMessagesInput};
