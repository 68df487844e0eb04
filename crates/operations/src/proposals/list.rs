//! What programs asked for.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::proposals;

use super::ProposalView;
use crate::{HouseCall, HouseServices};

pub struct ListProposals;

impl Operation<HouseServices> for ListProposals {
    type Input = ListInput;
    type View = ListView<ProposalView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "proposals",
        noun: "proposal",
        command: "proposals",
        verb: "list",
        about: "List the changes that programs asked for over MCP, newest first.",
        needs: CallerClass::MemberOrKeeper(Area::Administration, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/proposals",
    };

    async fn run(call: &HouseCall, input: ListInput) -> Result<ListView<ProposalView>, OperationError> {
        let (request, packs) = (input.page_request()?, call.services.parts.pack_operations()?);
        let page = call.read(move |tx| Ok(proposals::list(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |one| Some(ProposalView::new(call, &packs, one))))
    }
}
