//! One tier at one version.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::TierDetailView;
use crate::{HouseCall, HouseServices};

/// The tier that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowTierInput {
    /// `human`, `team`, `agent` or `binding`.
    #[schema(value_type = crate::schemas::TierKindSchema)]
    pub kind: TierKind,
    /// The name of the tier.
    #[schema(value_type = String, max_length = 63, example = "meera")]
    pub name: TierName,
    /// Default: the current version.
    #[schema(minimum = 1)]
    pub version: Option<u32>,
}

pub struct ShowTier;

impl Operation<HouseServices> for ShowTier {
    type Input = ShowTierInput;
    type View = TierDetailView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tiers",
        noun: "tier",
        command: "tier",
        verb: "show",
        about: "Get a tier with every value, including defaults; for an agent, with everything it extends.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/tiers/{kind}/{name}",
    };

    async fn run(call: &HouseCall, input: ShowTierInput) -> Result<TierDetailView, OperationError> {
        let ShowTierInput { kind, name, version } = input;
        Ok(history::show(&call.db, &call.tenant.name, kind, &name, version).await?.into())
    }
}
