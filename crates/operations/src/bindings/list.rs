//! Bindings, by name.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::history;
use munshi_types::{BindingId, Id};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::BindingView;
use crate::named_list::paginate_by_name;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListBindingsInput {
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

pub struct ListBindings;

impl Operation<HouseServices> for ListBindings {
    type Input = ListBindingsInput;
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

    async fn run(
        call: &HouseCall,
        input: ListBindingsInput,
    ) -> Result<ListView<BindingView>, OperationError> {
        let tiers = history::list_tiers(&call.db, &call.tenant.name).await?;
        let reached =
            tiers.iter().filter(|tier| call.caller.reaches(BindingId::from_uuid(tier.id.as_uuid())));
        let bindings: Vec<BindingView> = reached.filter_map(BindingView::of).collect();
        paginate_by_name(bindings, input.after.as_deref(), input.limit, |one| one.name.to_string())
    }
}
