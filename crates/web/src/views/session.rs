//! Conversations.

use munshi_agent::sessions::Session;
use munshi_types::tier::LanguageCode;
use munshi_types::{BindingId, PersonId, SessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A session: the conversation of one person with one binding, across channels.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionView {
    #[schema(value_type = uuid::Uuid)]
    id: SessionId,
    #[schema(value_type = uuid::Uuid)]
    binding: BindingId,
    #[schema(value_type = uuid::Uuid)]
    person: PersonId,
    /// The channel of the last message.
    #[schema(example = "api")]
    channel: &'static str,
    #[schema(value_type = Option<String>, example = "hi")]
    language: Option<LanguageCode>,
    /// Number of messages.
    messages: i64,
    /// A summary of messages too old to be sent to a model in full.
    summary: Option<String>,
    /// The people and things it is about.
    entities: Value,
    /// The session this one was merged into.
    #[schema(value_type = Option<uuid::Uuid>)]
    merged_into: Option<SessionId>,
    #[schema(value_type = String, format = DateTime)]
    began_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    last_at: Timestamp,
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        let summary = session.whole_summary();
        Self {
            id: session.id,
            binding: session.binding,
            person: session.person,
            channel: session.channel.as_str(),
            language: session.language,
            messages: session.messages,
            summary,
            entities: session.entities,
            merged_into: session.merged_into,
            began_at: session.began_at,
            last_at: session.last_at,
        }
    }
}
