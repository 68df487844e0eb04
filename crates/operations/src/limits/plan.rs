//! A tenant's plan.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::budget::{self, UsagePlan};
use munshi_types::TenantName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{HouseCall, HouseServices};

/// Nothing besides the tenant.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanInput {}

/// What a tenant has agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Plan)]
pub struct PlanView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    /// `free`, `starter`, `pro` or `business`.
    #[schema(value_type = String)]
    pub plan: UsagePlan,
    /// In a month; null is no limit.
    pub interactions: Option<i64>,
    /// Whether it was set just now.
    pub changed: bool,
}

impl PlanView {
    pub(super) fn new(tenant: &TenantName, plan: UsagePlan, changed: bool) -> Self {
        Self { tenant: tenant.clone(), plan, interactions: plan.interactions(), changed }
    }
}

pub struct ShowPlan;

impl Operation<HouseServices> for ShowPlan {
    type Input = PlanInput;
    type View = PlanView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "plans",
        noun: "plan",
        command: "usage plan",
        verb: "show",
        about: "Show a tenant's plan.",
        needs: CallerClass::Member(Area::Usage, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/usage/plan",
    };

    async fn run(call: &HouseCall, _: PlanInput) -> Result<PlanView, OperationError> {
        let settings = call.services.parts.budget();
        let plan = call.read(move |tx| Ok(budget::load_plan(tx, &settings)?)).await?;
        Ok(PlanView::new(&call.tenant.name, plan, false))
    }
}
