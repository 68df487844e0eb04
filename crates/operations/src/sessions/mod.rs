//! Conversations.

mod list;
mod show;
mod view;

pub use list::{ListSessions, ListSessionsInput};
pub use show::{SessionInput, ShowSession};
pub use view::SessionView;

use munshi_agent::sessions::{self, Session};
use munshi_pack::operation::{OperationCaller, OperationError};
use munshi_store::Tx;
use munshi_types::SessionId;

/// The session, if it is the tenant's and of a binding that the caller reaches. An old id leads to what it became part of.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    id: SessionId,
) -> Result<Session, OperationError> {
    let found = sessions::find_current(tx, id)?.filter(|session| caller.reaches(session.binding));
    found.ok_or_else(|| OperationError::not_found("session", &id.to_string()))
}
