//! How any two versions of a tier differ.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::{history, plan};
use munshi_types::tier::{TierKind, TierName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::TierDiffView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffTierInput {
    /// `human`, `team`, `agent` or `binding`.
    #[schema(value_type = crate::schemas::TierKindSchema)]
    pub kind: TierKind,
    /// The name of the tier.
    #[schema(value_type = String, max_length = 63, example = "meera")]
    pub name: TierName,
    /// Default: the version before `to`.
    #[schema(minimum = 1)]
    pub from: Option<u32>,
    /// Default: the current version.
    #[schema(minimum = 1)]
    pub to: Option<u32>,
}

pub struct DiffTier;

impl Operation<HouseServices> for DiffTier {
    type Input = DiffTierInput;
    type View = TierDiffView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tiers",
        noun: "tier",
        command: "tier",
        verb: "diff",
        about: "Compare any two versions of a tier.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/tiers/{kind}/{name}/diff",
    };

    async fn run(call: &HouseCall, input: DiffTierInput) -> Result<TierDiffView, OperationError> {
        let DiffTierInput { kind, name, from, to } = input;
        let (db, tenant) = (&call.db, &call.tenant.name);
        let newer = history::find_version(db, tenant, kind, &name, to).await?;
        let from = match from {
            Some(from) => from,
            // The first has none before it, and differs from nothing.
            None => newer.version.saturating_sub(1).max(1),
        };
        let older = history::find_version(db, tenant, kind, &name, Some(from)).await?;
        let changes = plan::diff_fields(&older.body, &newer.body);
        Ok(TierDiffView { kind, name, from, to: newer.version, changes })
    }
}
