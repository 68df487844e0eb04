//! Gives a tenant another plan.

use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::budget::{self, UsagePlan};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::PlanView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewPlan)]
pub struct SetPlanInput {
    /// free, starter, pro, business, or `default` for the settings' plan.
    pub plan: String,
}

pub struct SetPlan;

impl Operation<HouseServices> for SetPlan {
    type Input = SetPlanInput;
    type View = PlanView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "plans",
        noun: "plan",
        command: "usage plan",
        verb: "set",
        about: "Give a tenant another plan; it holds from the next turn on.",
        needs: CallerClass::KeeperOfTenant,
        effect: OperationEffect::Write(&["budget.changed"]),
        method: RouteMethod::Post,
        path: "/v1/usage/plan",
    };

    async fn run(call: &HouseCall, input: SetPlanInput) -> Result<PlanView, OperationError> {
        let to: Option<UsagePlan> = match input.plan.as_str() {
            "default" => None,
            text => Some(text.parse().map_err(|error: String| OperationError::field("plan", &error))?),
        };
        let (settings, now) = (call.services.parts.budget(), call.now);
        let plan = call.write(move |tx| {
            let before = budget::load_plan(tx, &settings)?;
            budget::set_plan(tx, to, now)?;
            let after = budget::load_plan(tx, &settings)?;
            let payload = json!({ "from": before, "to": after, "default": to.is_none() });
            tx.note("budget.changed", "plan", payload);
            Ok(after)
        });
        Ok(PlanView::new(&call.tenant.name, plan.await?, true))
    }
}
