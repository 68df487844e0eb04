//! Takes a tier back to an older version, as a new version.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::{ApplyPlan, Authorship, ROUTING, history};
use munshi_types::Zone;
use munshi_types::tier::{TierKind, TierName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::ApplyPlanSchema;
use crate::folders::{check_change, check_note, check_tiers};
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TierRollback)]
pub struct RollbackTierInput {
    /// `human`, `team`, `agent` or `binding`.
    #[schema(value_type = crate::schemas::TierKindSchema)]
    pub kind: TierKind,
    /// The name of the tier.
    #[schema(value_type = String, max_length = 63, example = "meera")]
    pub name: TierName,
    /// The version to go back to. Default: the one before that whose words are in force.
    #[schema(minimum = 1)]
    pub to: Option<u32>,
    /// Reason, for the history. Default: `back to version N`.
    #[schema(max_length = 1000)]
    pub note: Option<String>,
}

/// What going back changed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = RolledBackTier)]
pub struct RolledBackTierView {
    /// The version whose words it has now.
    pub back_to: u32,
    /// `changes` is empty where it had those words already.
    #[serde(flatten)]
    #[schema(value_type = ApplyPlanSchema)]
    pub plan: ApplyPlan,
}

pub struct RollbackTier;

impl Operation<HouseServices> for RollbackTier {
    type Input = RollbackTierInput;
    type View = RolledBackTierView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "tiers",
        noun: "tier",
        command: "tier",
        verb: "rollback",
        about: "Roll a tier back to an older version, as a new version.",
        needs: CallerClass::Member(Area::Tiers, ApiAccess::Write),
        effect: OperationEffect::Write(&["tier.changed"]),
        method: RouteMethod::Post,
        path: "/v1/tiers/{kind}/{name}/rollback",
    };

    async fn run(call: &HouseCall, input: RollbackTierInput) -> Result<RolledBackTierView, OperationError> {
        check_change(&call.caller)?;
        let RollbackTierInput { kind, name, to, note } = input;
        let note = check_note(note)?;
        let installed = call.services.parts.installed_names()?;
        let planned = history::plan_rollback(&call.db, &call.tenant.name, kind, &name, to, &installed);
        let (plan, back_to) = planned.await?;
        let by = Authorship {
            author: call.caller.actor().id.clone(),
            note: note.unwrap_or_else(|| format!("back to version {back_to}")),
            made_at: call.now,
        };
        let (ids, caller, plans) = (call.ids.clone(), call.caller.clone(), vec![plan.clone()]);
        call.write_platform(ROUTING, move |tx| {
            plans.iter().try_for_each(|plan| check_tiers(tx, &caller, plan))?;
            Ok(munshi_tiers::apply(tx, plans, &Zone::default(), &by, &ids)?)
        })
        .await?;
        Ok(RolledBackTierView { back_to, plan })
    }
}
