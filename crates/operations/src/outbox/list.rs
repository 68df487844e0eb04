//! What leaves, in one state or all that has not left, newest first.

use munshi_conversations::outbox::{self, OutboxState};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::OutgoingMessageView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Copy, Default)]
    pub struct ListOutboxInput: ListInput {
        /// waiting, sending, sent, unknown, failed or cancelled. Default: all but sent and cancelled.
        #[schema(value_type = Option<crate::schemas::OutboxStateSchema>, inline)]
        pub state: Option<OutboxState>,
    }
}

pub struct ListOutbox;

impl Operation<HouseServices> for ListOutbox {
    type Input = ListOutboxInput;
    type View = ListView<OutgoingMessageView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "outgoing-messages",
        noun: "outgoing message",
        command: "outbox",
        verb: "list",
        about: "List outgoing messages in one state, or all that have not left, newest first, without their words.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/outbox",
    };

    async fn run(
        call: &HouseCall,
        input: ListOutboxInput,
    ) -> Result<ListView<OutgoingMessageView>, OperationError> {
        let request = input.page().page_request()?;
        let page = call.read(move |tx| match input.state {
            Some(state) => Ok(outbox::list_in_state(tx, state, &request)?),
            None => Ok(outbox::list_unsent(tx, &request)?),
        });
        let caller = &call.caller;
        Ok(ListView::from_page(page.await?, |row| caller.reaches(row.binding).then(|| row.into())))
    }
}
