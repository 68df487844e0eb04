//! Tiers, by kind and name.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::history;
use munshi_types::tier::TierKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::TierView;
use crate::named_list::paginate_by_name;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTiersInput {
    /// Only tiers of this kind: `human`, `team`, `agent` or `binding`.
    #[schema(value_type = Option<crate::schemas::TierKindSchema>)]
    pub kind: Option<TierKind>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
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
        paginate_by_name(tiers, input.after.as_deref(), input.limit, |tier| {
            format!("{}.{}", tier.kind.as_str(), tier.name)
        })
    }
}
