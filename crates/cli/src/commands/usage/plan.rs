//! `munshi usage plan TENANT [PLAN]`

use clap::Args;
use munshi_operations::limits::{PlanInput, PlanView, SetPlan, SetPlanInput, ShowPlan};
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct UsagePlanArguments {
    /// Tenant
    tenant: TenantName,
    /// free, starter, pro, business, or `default` for the settings' plan. Omit it to show the plan
    plan: Option<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &UsagePlanArguments) -> Result<()> {
    let of = TenantSelectorArguments::named(arguments.tenant.clone());
    let target = OperationTarget { of: &of, operator: Some(&arguments.operator) };
    let shown = match &arguments.plan {
        None => context.run_operation::<ShowPlan>(&target, &PlanInput {})?,
        Some(plan) => context.run_operation::<SetPlan>(&target, &SetPlanInput { plan: plan.clone() })?,
    };
    context.output.print_result(&shown, |shown, _| render_text(shown))
}

fn render_text(shown: &PlanView) -> String {
    let count = match shown.interactions {
        Some(count) => format!("{count} interactions a month"),
        None => "unlimited interactions".to_owned(),
    };
    let now = if shown.changed { "now has" } else { "has" };
    format!("{} {now} the plan {}: {count}.", shown.tenant, shown.plan)
}
