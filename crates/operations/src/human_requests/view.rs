//! Somebody's place in the line, as it is shown.

use munshi_conversations::human_requests::HumanRequest;
use munshi_types::{HumanRequestId, PersonId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Somebody who asked for a human.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = HumanRequest)]
pub struct HumanRequestView {
    #[schema(value_type = uuid::Uuid)]
    pub id: HumanRequestId,
    /// `waiting`; `callback` if they are to be called back; `held` while somebody talks to them.
    #[schema(example = "waiting")]
    pub state: String,
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// The team they were with.
    #[schema(example = "front")]
    pub team: Option<String>,
    /// Why, in a sentence.
    pub reason: String,
    /// Who has the session in hand.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub claimed_by: Option<PersonId>,
    /// Where they are to be called back.
    pub callback_to: Option<String>,
    pub note: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub claimed_at: Option<Timestamp>,
}

impl From<HumanRequest> for HumanRequestView {
    fn from(request: HumanRequest) -> Self {
        Self {
            id: request.id,
            state: request.state.as_str().to_owned(),
            session: request.session,
            team: request.team,
            reason: request.reason,
            claimed_by: request.claimed_by,
            callback_to: request.callback_to.map(|to| to.address),
            note: request.note,
            asked_at: request.asked_at,
            claimed_at: request.claimed_at,
        }
    }
}
