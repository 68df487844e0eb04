//! How a conversation was handed on, newest first. What was said stands in it: whoever opens somebody else's is written down.

use munshi_conversations::handoffs;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::SessionId;

use super::HandoffView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices, sessions};

list_input! {
    #[derive(Copy)]
    pub struct ListHandoffsInput: ListInput {
        /// The session.
        #[schema(value_type = uuid::Uuid)]
        pub id: SessionId,
    }
}

pub struct ListHandoffs;

impl Operation<HouseServices> for ListHandoffs {
    type Input = ListHandoffsInput;
    type View = ListView<HandoffView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "handoffs",
        noun: "handoff",
        command: "handoffs",
        verb: "list",
        about: "List how a session was handed over between teams, bindings and people, newest first. The audit notes \
                who opened somebody else's conversation.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["conversation.opened"]),
        method: RouteMethod::Get,
        path: "/v1/sessions/{id}/handoffs",
    };

    async fn run(
        call: &HouseCall,
        input: ListHandoffsInput,
    ) -> Result<ListView<HandoffView>, OperationError> {
        let caller = call.caller.clone();
        let request = input.page().page_request()?;
        let page = call.read_audited(move |tx| {
            let session = sessions::find_opened(tx, &caller, input.id)?;
            Ok(handoffs::list(tx, session.id, &request)?)
        });
        Ok(ListView::from_page(page.await?, |handoff| Some(handoff.into())))
    }
}
