//! What leaves: what waits, what has left, what nobody knows of. Whoever reads somebody else's message is written down.

mod cancel;
mod list;
mod retry;
mod show;
mod view;

pub use cancel::CancelOutgoingMessage;
pub use list::{ListOutbox, ListOutboxInput};
pub use retry::{RetryOutgoingMessage, RetryOutgoingMessageInput};
pub use show::{OutgoingMessageInput, ShowOutgoingMessage};
pub use view::{OutgoingMessageContentView, OutgoingMessageView};

use munshi_conversations::outbox::{self, OutboxState, OutboxView};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_store::Tx;
use munshi_types::MessageId;

/// A message that the caller reaches. What leaves in nobody's name is for keys that reach every binding.
fn find(tx: &mut Tx<'_>, caller: &OperationCaller, id: MessageId) -> Result<OutboxView, OperationError> {
    let found = outbox::find(tx, id)?.filter(|row| caller.reaches(row.binding));
    found.ok_or_else(|| not_found(id))
}

fn not_found(id: MessageId) -> OperationError {
    OperationError::not_found("outgoing message", &id.to_string())
        .hint("`munshi outbox list` shows what has not left.")
}

fn not_now(id: MessageId, state: OutboxState) -> OperationError {
    let state = match state {
        OutboxState::Sending => "is being sent at this moment",
        OutboxState::Sent => "was sent",
        OutboxState::Cancelled => "was cancelled",
        OutboxState::Waiting => "waits",
        OutboxState::Failed => "was given up",
        OutboxState::Unknown => "may have arrived",
    };
    OperationError::new(OperationErrorCode::Conflict, format!("Message {id} {state}."))
}
