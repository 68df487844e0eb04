//! The limits that a tenant has of its own.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::budget::{self, BudgetLimitSubject, BudgetScope};
use munshi_types::BindingId;

use super::LimitView;
use crate::named_list::NameListInput;
use crate::{HouseCall, HouseServices};

pub struct ListLimits;

impl Operation<HouseServices> for ListLimits {
    type Input = NameListInput;
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

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<LimitView>, OperationError> {
        let own = call.read(|tx| Ok(budget::list_own_limits(tx)?)).await?;
        // A key that is limited to bindings sees theirs.
        let is_seen = |on: &BudgetLimitSubject| match (call.caller.bindings(), on.scope, on.id) {
            (None, ..) => true,
            (Some(_), BudgetScope::Binding, Some(id)) => call.caller.reaches(BindingId::from_uuid(id)),
            (Some(_), ..) => false,
        };
        let own = own.into_iter().filter(|(on, _)| is_seen(on));
        let all = own.map(|(on, to)| LimitView::new(call.tenant.name.clone(), on, to)).collect();
        input.paginate(all, LimitView::sort_key)
    }
}
