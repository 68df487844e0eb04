//! The limits that a tenant has of its own.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::budget;

use super::{LimitView, PlanInput};
use crate::{HouseCall, HouseServices};

pub struct ListLimits;

impl Operation<HouseServices> for ListLimits {
    type Input = PlanInput;
    type View = ListView<LimitView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "limits",
        noun: "limit",
        command: "limits",
        verb: "list",
        about: "List the limits that were set for a tenant, its bindings and its people; plan and settings say the rest.",
        needs: CallerClass::Member(Area::Usage, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/usage/limits",
    };

    async fn run(call: &HouseCall, _: PlanInput) -> Result<ListView<LimitView>, OperationError> {
        let own = call.read(|tx| Ok(budget::list_own_limits(tx)?)).await?;
        let name = &call.tenant.name;
        let items = own.into_iter().map(|(on, to)| LimitView::new(name.clone(), on, to)).collect();
        Ok(ListView { items, next: None })
    }
}
