//! Who waits for a human.

use munshi_conversations::{human_requests, sessions};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde_json::json;

use super::HumanRequestView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Copy, Default)]
    pub struct ListHumanRequestsInput: ListInput {}
}

pub struct ListHumanRequests;

impl Operation<HouseServices> for ListHumanRequests {
    type Input = ListHumanRequestsInput;
    type View = ListView<HumanRequestView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "human-requests",
        noun: "request for a human",
        command: "line",
        verb: "list",
        about: "List who waits for a human, is to be called back or is talked to, newest first. The audit notes who looked.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["line.opened"]),
        method: RouteMethod::Get,
        path: "/v1/human-requests",
    };

    async fn run(
        call: &HouseCall,
        input: ListHumanRequestsInput,
    ) -> Result<ListView<HumanRequestView>, OperationError> {
        let (caller, request) = (call.caller.clone(), input.page().page_request()?);
        let page = call.read_audited(move |tx| {
            let mut page = human_requests::list_open(tx, &request)?;
            let mut reached = Vec::with_capacity(page.items.len());
            for one in std::mem::take(&mut page.items) {
                let session = sessions::find_current(tx, one.session)?;
                if session.is_some_and(|session| caller.reaches(session.binding)) {
                    reached.push(one);
                }
            }
            let sessions: Vec<_> = reached.iter().map(|one| one.session).collect();
            tx.note("line.opened", "line", json!({ "sessions": sessions }));
            page.items = reached;
            Ok(page)
        });
        Ok(ListView::from_page(page.await?, |one| Some(one.into())))
    }
}
