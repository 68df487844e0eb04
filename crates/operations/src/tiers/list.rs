//! Tiers, by kind and name.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::history;
use munshi_types::tier::TierKind;

use super::TierView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Default)]
    pub struct ListTiersInput: NameListInput {
        /// Only tiers of this kind: `human`, `team`, `agent` or `binding`.
        #[schema(value_type = Option<crate::schemas::TierKindSchema>)]
        pub kind: Option<TierKind>,
    }
}

pub struct ListTiers;

impl Operation<HouseServices> for ListTiers {
    type Input = ListTiersInput;
    type View = ListView<TierView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tiers",
        noun: "tier",
        command: "tier",
        verb: "list",
        about: "List humans, teams, agents and bindings, by kind and name, including archived ones.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/tiers",
    };

    async fn run(call: &HouseCall, input: ListTiersInput) -> Result<ListView<TierView>, OperationError> {
        let mut tiers = history::list_tiers(&call.db, &call.tenant.name).await?;
        tiers.retain(|tier| input.kind.is_none_or(|kind| tier.kind == kind));
        let tiers = tiers.into_iter().map(TierView::from).collect();
        input.page().paginate(tiers, |tier: &TierView| format!("{}.{}", tier.kind.as_str(), tier.name))
    }
}
