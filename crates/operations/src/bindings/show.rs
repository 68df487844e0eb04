//! One binding, its addresses and versions.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName};
use munshi_types::{BindingId, Id};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{BindingView, BindingWithVersionsView};
use crate::{HouseCall, HouseServices};

/// The binding that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BindingInput {
    /// The name of the binding.
    #[schema(value_type = String, max_length = 63, example = "counter")]
    pub name: TierName,
}

pub struct ShowBinding;

impl Operation<HouseServices> for ShowBinding {
    type Input = BindingInput;
    type View = BindingWithVersionsView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "bindings",
        noun: "binding",
        command: "bindings",
        verb: "show",
        about: "Get a binding with its addresses and versions.",
        needs: CallerClass::Member(Area::Bindings, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/bindings/{name}",
    };

    async fn run(call: &HouseCall, input: BindingInput) -> Result<BindingWithVersionsView, OperationError> {
        let BindingInput { name } = input;
        let tiers = history::list_tiers(&call.db, &call.tenant.name).await?;
        let found = tiers.iter().find(|tier| {
            let reached = call.caller.reaches(BindingId::from_uuid(tier.id.as_uuid()));
            tier.kind == TierKind::Binding && tier.name == name && reached
        });
        let binding = found.and_then(BindingView::of);
        let binding = binding.ok_or_else(|| OperationError::not_found("binding", name.as_str()))?;
        let log = history::load(&call.db, &call.tenant.name, TierKind::Binding, &name).await?;
        let versions = log.versions.into_iter().map(Into::into).collect();
        Ok(BindingWithVersionsView { binding, versions })
    }
}
