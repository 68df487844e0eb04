//! Acts, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::acts;

use super::ActView;
use crate::{HouseCall, HouseServices};

pub struct ListActs;

impl Operation<HouseServices> for ListActs {
    type Input = ListInput;
    type View = ListView<ActView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "acts",
        noun: "act",
        command: "acts",
        verb: "list",
        about: "List what agents did or were kept from doing, newest first.",
        needs: CallerClass::Member(Area::Runs, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/acts",
    };

    async fn run(call: &HouseCall, input: ListInput) -> Result<ListView<ActView>, OperationError> {
        let request = input.page_request()?;
        let page = call.read(move |tx| Ok(acts::list(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |act| {
            act.binding.is_none_or(|binding| call.caller.reaches(binding)).then(|| act.into())
        }))
    }
}
