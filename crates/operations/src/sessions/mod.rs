//! Conversations.

mod list;
mod show;
mod view;

pub use list::{ListSessions, ListSessionsInput};
pub use show::{SessionInput, ShowSession};
pub use view::{ActivePlaceView, SessionView};

use munshi_conversations::sessions::{self, Session};
use munshi_pack::operation::{OperationCaller, OperationError};
use munshi_store::{AdminTx, Tx};
use munshi_types::SessionId;
use serde_json::json;

use crate::HouseCall;

/// The same for whoever reads what was said in it; the audit notes who opened somebody else's.
pub(crate) fn find_opened(
    tx: &mut AdminTx<'_, '_>,
    caller: &OperationCaller,
    id: SessionId,
) -> Result<Session, OperationError> {
    let session = find(tx, caller, id)?;
    if caller.person() != Some(session.person) {
        let payload = json!({ "person": session.person, "binding": session.binding });
        tx.note("conversation.opened", session.id.to_string(), payload);
    }
    Ok(session)
}

/// The session for whoever follows what is said in it: the audit notes them as whoever reads it.
pub async fn open_followed(call: &HouseCall, id: SessionId) -> Result<Session, OperationError> {
    let caller = call.caller.clone();
    call.read_audited(move |tx| find_opened(tx, &caller, id)).await
}

/// The session, if it is the tenant's and of a binding that the caller reaches. An old id leads to what it became part of.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    id: SessionId,
) -> Result<Session, OperationError> {
    let found = sessions::find_current(tx, id)?.filter(|session| caller.reaches(session.binding));
    found.ok_or_else(|| OperationError::not_found("session", &id.to_string()))
}
