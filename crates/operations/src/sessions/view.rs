//! A conversation as it is shown.

use munshi_conversations::handoffs::ActiveHandoff;
use munshi_conversations::session_waits::SessionAttention;
use munshi_conversations::sessions::Session;
use munshi_types::tier::{Channel, LanguageCode, TierName};
use munshi_types::{BindingId, PersonId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A session: the conversation of one person with one binding, across channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionView {
    #[schema(value_type = uuid::Uuid)]
    pub id: SessionId,
    #[schema(value_type = uuid::Uuid)]
    pub binding: BindingId,
    #[schema(value_type = uuid::Uuid)]
    pub person: PersonId,
    /// The channel of the last message.
    #[schema(value_type = String, example = "api")]
    pub channel: Channel,
    #[schema(value_type = Option<String>, example = "hi")]
    pub language: Option<LanguageCode>,
    /// Number of messages.
    pub messages: i64,
    /// A summary of messages too old to be sent to a model in full.
    pub summary: Option<String>,
    /// The people and things it is about.
    pub entities: Value,
    /// The session this one was merged into.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub merged_into: Option<SessionId>,
    /// Where it was handed over to; none while it is with the binding it began with.
    #[serde(default)]
    pub active: Option<ActivePlaceView>,
    /// The person of the business who has it in hand; none while the agent answers.
    #[serde(default)]
    #[schema(value_type = Option<uuid::Uuid>)]
    pub held_by: Option<PersonId>,
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub held_at: Option<Timestamp>,
    /// Since when its person waits for an answer, or for somebody to come; none while nobody waits.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub waiting_since: Option<Timestamp>,
    /// How many of its person's messages you have not read, 100 at most; none for a key that stands for nobody.
    #[serde(default)]
    pub unread: Option<i64>,
    #[schema(value_type = String, format = DateTime)]
    pub began_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Timestamp,
}

/// Where a session is by now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ActivePlace)]
pub struct ActivePlaceView {
    #[schema(value_type = uuid::Uuid)]
    pub binding: BindingId,
    /// The team that took over, where it is not the binding's own.
    #[schema(value_type = Option<String>, example = "support")]
    pub team: Option<TierName>,
    /// Whether a person of the business was asked to take over.
    pub awaits_person: bool,
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
}

impl From<ActiveHandoff> for ActivePlaceView {
    fn from(active: ActiveHandoff) -> Self {
        let ActiveHandoff { place, awaits_person, at, .. } = active;
        Self { binding: place.binding, team: place.team, awaits_person, since: at }
    }
}

impl SessionView {
    pub(crate) fn new(session: Session, attention: SessionAttention) -> Self {
        let summary = session.whole_summary();
        Self {
            id: session.id,
            binding: session.binding,
            person: session.person,
            channel: session.channel,
            language: session.language,
            messages: session.messages,
            summary,
            entities: session.entities,
            merged_into: session.merged_into,
            active: session.active.map(Into::into),
            held_by: session.hold.map(|hold| hold.by),
            held_at: session.hold.map(|hold| hold.since),
            waiting_since: attention.waiting_since,
            unread: attention.unread,
            began_at: session.began_at,
            last_at: session.last_at,
        }
    }
}
