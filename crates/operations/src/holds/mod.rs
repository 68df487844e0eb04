//! Taking a conversation over, writing in it with a draft of the agent's or without, and giving it back.

mod draft;
mod give_back;
mod show_draft;
mod take;
mod view;
mod write;

pub use draft::{DraftReply, ReplyDraftView};
pub use give_back::GiveBackSession;
pub use show_draft::{HeldDraftView, ShowHeldDraft};
pub use take::TakeSession;
pub use view::HoldView;
pub(crate) use write::check_text;
pub use write::{WriteInSession, WriteInSessionInput};

use munshi_conversations::holds;
use munshi_conversations::sessions::{Session, SessionHold};
use munshi_identity::{Person, Role};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_store::AdminTx;
use munshi_types::{PersonId, Timestamp};
use serde_json::json;

use crate::turn_errors::convert_turn_error;

/// The person who joins in: nobody talks to a customer in nobody's name.
pub(crate) fn find_colleague(caller: &OperationCaller) -> Result<PersonId, OperationError> {
    caller.person().ok_or_else(|| {
        OperationError::new(OperationErrorCode::Forbidden, "Only a person can join a conversation.")
            .hint("Sign in to the account pages, or use a key that acts as a person of the tenant.")
    })
}

/// The same for a conversation that is not their own: there they are the customer.
pub(crate) fn find_colleague_in(
    caller: &OperationCaller,
    session: &Session,
) -> Result<PersonId, OperationError> {
    let colleague = find_colleague(caller)?;
    if session.person == colleague {
        let what = "This is your own conversation: somebody else has to join it.";
        return Err(OperationError::new(OperationErrorCode::Conflict, what));
    }
    Ok(colleague)
}

/// Gives back the conversations that somebody has in hand who may join none any more: nobody would answer there.
pub(crate) fn end_holds(
    tx: &mut AdminTx<'_, '_>,
    person: &Person,
    now: Timestamp,
) -> Result<(), OperationError> {
    let may_join = person.left_at.is_none() && person.role.is_some_and(|role| role != Role::Viewer);
    if may_join {
        return Ok(());
    }
    for (session, hold) in holds::give_back_all(tx, person.id, now).map_err(convert_turn_error)? {
        let payload = json!({ "hold": hold, "held_by": person.id });
        tx.note("conversation.given_back", session.to_string(), payload);
    }
    Ok(())
}

pub(crate) fn not_held() -> OperationError {
    OperationError::new(OperationErrorCode::Conflict, "You do not have this session in hand.")
        .hint("Take it over first: POST /v1/sessions/{id}/take or `munshi sessions take ID`.")
}

fn held_by_another(hold: &SessionHold) -> OperationError {
    let what = format!("Person {} has had this session in hand since {}.", hold.by, hold.since);
    OperationError::new(OperationErrorCode::Conflict, what)
        .hint("They can give it back, and so can an admin: `munshi sessions give-back ID`.")
}
