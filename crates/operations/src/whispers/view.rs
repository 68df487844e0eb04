//! A whisper as it is shown to those who work here.

use munshi_conversations::whispers::Whisper;
use munshi_types::{PersonId, RunId, SessionId, Timestamp, WhisperId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Something that a person of the business told the agent of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Whisper)]
pub struct WhisperView {
    #[schema(value_type = uuid::Uuid)]
    pub id: WhisperId,
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// The number of the message it was whispered after.
    pub number: i64,
    #[schema(value_type = uuid::Uuid)]
    pub author: PersonId,
    #[schema(example = "She is a regular: offer her the old price.")]
    pub text: String,
    /// The run whose model was told it; null while it waits for one.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub used_by: Option<RunId>,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

impl From<Whisper> for WhisperView {
    fn from(whisper: Whisper) -> Self {
        Self {
            id: whisper.id,
            session: whisper.session,
            number: whisper.number,
            author: whisper.author,
            text: whisper.text,
            used_by: whisper.used_by,
            at: whisper.at,
        }
    }
}
