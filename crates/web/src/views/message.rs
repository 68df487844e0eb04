//! What was said.

use munshi_agent::messages::Message;
use munshi_types::tier::LanguageCode;
use munshi_types::{MessageId, RunId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A message of a session, from either side.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Message)]
pub(crate) struct MessageView {
    #[schema(value_type = uuid::Uuid)]
    id: MessageId,
    /// Position in the session, from 1.
    number: i64,
    #[schema(value_type = uuid::Uuid)]
    run: RunId,
    /// `person` or `persona`.
    #[schema(example = "person")]
    speaker: &'static str,
    #[schema(example = "api")]
    channel: &'static str,
    /// The sender's own id for it.
    message_id: Option<String>,
    text: String,
    #[schema(value_type = Option<String>, example = "hi")]
    language: Option<LanguageCode>,
    /// `whole`; `degraded` for a fallback without an answer; `refused` for a message that was not kept.
    #[schema(example = "whole")]
    standing: &'static str,
    suggestions: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    said_at: Timestamp,
}

impl From<Message> for MessageView {
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            number: message.number,
            run: message.run,
            speaker: message.speaker.as_str(),
            channel: message.channel.as_str(),
            message_id: message.outside_id,
            text: message.text,
            language: message.language,
            standing: message.standing.as_str(),
            suggestions: message.suggestions,
            said_at: message.said_at,
        }
    }
}
