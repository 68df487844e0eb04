//! Tells the agent something for its next answer.

use munshi_conversations::whispers;
use munshi_identity::keys::{ApiAccess, Area, KeySpeaker};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_types::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::WhisperView;
use crate::holds::{check_text, find_colleague_in};
use crate::sessions::find;
use crate::{HouseCall, HouseServices};

/// A session, and what its agent is told.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WhisperInSessionInput {
    /// The session.
    #[schema(value_type = uuid::Uuid)]
    pub id: SessionId,
    /// What the agent is told for its next answer; the person does not see it.
    #[schema(max_length = 2000, example = "She is a regular: offer her the old price.")]
    pub text: String,
}

pub struct WhisperInSession;

impl Operation<HouseServices> for WhisperInSession {
    type Input = WhisperInSessionInput;
    type View = WhisperView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "whispers",
        noun: "session",
        command: "sessions",
        verb: "whisper",
        about: "Tell the agent something for its next answer in a session. The person does not see it. The audit notes that you \
                did, and not what.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Write),
        effect: OperationEffect::Write(&["conversation.whispered"]),
        method: RouteMethod::Post,
        path: "/v1/sessions/{id}/whispers",
    };

    async fn run(call: &HouseCall, input: WhisperInSessionInput) -> Result<WhisperView, OperationError> {
        let text = check_text(&input.text, whispers::LONGEST)?;
        let (caller, id, now) = (call.caller.clone(), call.ids.next(), call.now);
        // What a program writes is nobody's own word, and this goes to the agent as the house's.
        if caller.speaks_as() == KeySpeaker::Program {
            let what = "A program can't whisper: what it writes is not a person's own word.";
            return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                .hint("Use the account pages, or a key whose messages a person types."));
        }
        let whispered = call.write(move |tx| {
            let session = find(tx, &caller, input.id)?;
            let author = find_colleague_in(&caller, &session)?;
            let whisper = whispers::add(tx, &session, (id, author), (text.as_str(), now))?;
            tx.note(
                "conversation.whispered",
                session.id.to_string(),
                json!({ "whisper": whisper.id, "by": author, "person": session.person }),
            );
            Ok(whisper)
        });
        Ok(whispered.await?.into())
    }
}
