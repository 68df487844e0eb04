//! What the agent of a conversation was told by colleagues, newest first.

use munshi_conversations::whispers;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec,
    RouteMethod,
};
use munshi_types::SessionId;

use super::WhisperView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices, sessions};

list_input! {
    #[derive(Copy)]
    pub struct ListWhispersInput: ListInput {
        /// The session.
        #[schema(value_type = uuid::Uuid)]
        pub id: SessionId,
    }
}

pub struct ListWhispers;

impl Operation<HouseServices> for ListWhispers {
    type Input = ListWhispersInput;
    type View = ListView<WhisperView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "whispers",
        noun: "whisper",
        command: "whispers",
        verb: "list",
        about: "List what colleagues whispered to the agent of a session, newest first. The audit notes who opened it.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["conversation.opened"]),
        method: RouteMethod::Get,
        path: "/v1/sessions/{id}/whispers",
    };

    async fn run(
        call: &HouseCall,
        input: ListWhispersInput,
    ) -> Result<ListView<WhisperView>, OperationError> {
        let (caller, request) = (call.caller.clone(), input.page().page_request()?);
        let page = call.read_audited(move |tx| {
            let session = sessions::find_opened(tx, &caller, input.id)?;
            // In their own conversation they are the customer, who is shown no whisper.
            if caller.person() == Some(session.person) {
                let what = "This is your own conversation: whispers in it are for others.";
                return Err(OperationError::new(OperationErrorCode::Forbidden, what));
            }
            Ok(whispers::list(tx, session.id, &request)?)
        });
        Ok(ListView::from_page(page.await?, |whisper| Some(whisper.into())))
    }
}
