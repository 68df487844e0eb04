//! Writes in a conversation, as the person who has it in hand.

use munshi_conversations::holds::{self, ColleagueWords};
use munshi_identity::keys::{ApiAccess, Area, KeySpeaker};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_types::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{find_colleague_in, not_held};
use crate::messages::MessageView;
use crate::sessions::find;
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

/// A session, and what is written in it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteInSessionInput {
    /// The session.
    #[schema(value_type = uuid::Uuid)]
    pub id: SessionId,
    /// What the person reads, under your name.
    #[schema(max_length = 4000, example = "This is Kamal from the shop. I am looking into it.")]
    pub text: String,
}

pub struct WriteInSession;

impl Operation<HouseServices> for WriteInSession {
    type Input = WriteInSessionInput;
    type View = MessageView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "sessions",
        noun: "session",
        command: "sessions",
        verb: "write",
        about: "Write to the person in a session that you have in hand, as yourself and visibly so. It leaves on the channel \
                where they are met. The audit notes that you wrote, and not what.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Write),
        effect: OperationEffect::Write(&["conversation.written_in"]),
        method: RouteMethod::Post,
        path: "/v1/sessions/{id}/write",
    };

    async fn run(call: &HouseCall, input: WriteInSessionInput) -> Result<MessageView, OperationError> {
        let text = check_text(&input.text, holds::LONGEST)?;
        let (caller, ids, now) = (call.caller.clone(), call.ids.clone(), call.now);
        // It would reach the person as somebody's own words.
        if caller.speaks_as() == KeySpeaker::Program {
            let what = "A program can't write as a person: what it writes is nobody's own word.";
            return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                .hint("Use the account pages, or a key whose messages a person types."));
        }
        let queue = call.services.job_queue();
        let written = call.write(move |tx| {
            let session = find(tx, &caller, input.id)?;
            let author = find_colleague_in(&caller, &session)?;
            let words = ColleagueWords { author, text: &text, now };
            let written = holds::write(tx, (&queue, &ids), session.id, &words).map_err(convert_turn_error)?;
            let message = written.ok_or_else(not_held)?;
            tx.note(
                "conversation.written_in",
                session.id.to_string(),
                json!({ "message": message.id, "by": author, "person": session.person }),
            );
            Ok(MessageView::load(tx, message)?)
        });
        written.await
    }
}

/// Without what surrounds it; some words, and not too many.
pub(crate) fn check_text(text: &str, longest: usize) -> Result<String, OperationError> {
    let invalid = |what: String| Err(OperationError::new(OperationErrorCode::Invalid, what));
    match text.trim() {
        "" => invalid("`text` is empty.".to_owned()),
        text if text.chars().count() > longest => {
            invalid(format!("`text` has more than {longest} characters."))
        }
        text => Ok(text.to_owned()),
    }
}
