//! Bindings, by name.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::history;
use munshi_types::{BindingId, Id};

use super::BindingView;
use crate::named_list::NameListInput;
use crate::{HouseCall, HouseServices};

pub struct ListBindings;

impl Operation<HouseServices> for ListBindings {
    type Input = NameListInput;
    type View = ListView<BindingView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "bindings",
        noun: "binding",
        command: "bindings",
        verb: "list",
        about: "List the bindings accessible with this key, by name, including archived ones.",
        needs: CallerClass::Member(Area::Bindings, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/bindings",
    };

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<BindingView>, OperationError> {
        let tiers = history::list_tiers(&call.db, &call.tenant.name).await?;
        let reached =
            tiers.iter().filter(|tier| call.caller.reaches(BindingId::from_uuid(tier.id.as_uuid())));
        let bindings: Vec<BindingView> = reached.filter_map(BindingView::of).collect();
        input.paginate(bindings, |one| one.name.to_string())
    }
}
