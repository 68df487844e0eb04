//! A handing on as it is shown.

use munshi_conversations::handoffs::HandoffRecord;
use munshi_tiers::ActivePlace;
use munshi_types::tier::TierName;
use munshi_types::{BindingId, HandoffId, PersonId, RunId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A session was handed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Handoff)]
pub struct HandoffView {
    #[schema(value_type = uuid::Uuid)]
    pub id: HandoffId,
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// The run that did it; none where a person did.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub run: Option<RunId>,
    /// The person who did it, where that is known.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub person: Option<PersonId>,
    /// A team's name, `binding/NAME`, `person`, or `front` for where it began.
    #[schema(example = "support")]
    pub destination: String,
    pub from: HandoffPlaceView,
    pub to: HandoffPlaceView,
    pub reason: String,
    pub summary: String,
    pub open_questions: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

/// A binding, and the team in it where it is not the binding's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = HandoffPlace)]
pub struct HandoffPlaceView {
    #[schema(value_type = uuid::Uuid)]
    pub binding: BindingId,
    #[schema(value_type = Option<String>, example = "support")]
    pub team: Option<TierName>,
}

impl From<ActivePlace> for HandoffPlaceView {
    fn from(place: ActivePlace) -> Self {
        Self { binding: place.binding, team: place.team }
    }
}

impl From<HandoffRecord> for HandoffView {
    fn from(handoff: HandoffRecord) -> Self {
        Self {
            id: handoff.id,
            session: handoff.session,
            run: handoff.run,
            person: handoff.person,
            destination: handoff.destination,
            from: handoff.from.into(),
            to: handoff.to.into(),
            reason: handoff.bundle.reason,
            summary: handoff.bundle.summary,
            open_questions: handoff.bundle.open_questions,
            at: handoff.at,
        }
    }
}
