//! Who has a conversation in hand, as it is shown.

use munshi_conversations::sessions::SessionHold;
use munshi_types::{PersonId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether a person of the business has a session in hand. Meanwhile the agent does not answer in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Hold)]
pub struct HoldView {
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// Null while the agent answers.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub held_by: Option<PersonId>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub held_at: Option<Timestamp>,
}

impl HoldView {
    pub(super) fn new(session: SessionId, hold: Option<SessionHold>) -> Self {
        Self { session, held_by: hold.map(|hold| hold.by), held_at: hold.map(|hold| hold.since) }
    }
}
