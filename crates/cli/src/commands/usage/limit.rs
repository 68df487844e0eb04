//! `munshi usage limit TENANT LIMIT AMOUNT`

use clap::Args;
use munshi_operations::limits::{LimitKind, LimitView, SetLimit, SetLimitInput};
use munshi_safety::budget::{BudgetLane, BudgetMeasure, BudgetScope};
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct UsageLimitArguments {
    /// Tenant
    tenant: TenantName,
    /// SCOPE.PERIOD.MEASURE, such as tenant.month.money, binding.day.tokens or person.day.interactions; with
    /// `background.` before it for background work
    limit: String,
    /// Whole number, or dollars for money; `none` for no limit, `default` for the plan's and settings' value
    amount: String,
    /// Apply to this binding or person only, by id or name
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &UsageLimitArguments) -> Result<()> {
    let of = TenantSelectorArguments::named(arguments.tenant.clone());
    let target = OperationTarget { of: &of, operator: Some(&arguments.operator) };
    let UsageLimitArguments { limit, amount, only, .. } = arguments;
    let input = SetLimitInput { limit: limit.clone(), amount: amount.clone(), only: only.clone() };
    let set = context.run_operation::<SetLimit>(&target, &input)?;
    context.output.print_result(&set, |set, _| render_text(set))
}

fn render_text(set: &LimitView) -> String {
    let whom = match (set.scope, set.id) {
        (BudgetScope::Tenant, _) => set.tenant.to_string(),
        (scope, None) => format!("each {scope} of {}", set.tenant),
        (scope, Some(id)) => format!("{scope} {id} of {}", set.tenant),
    };
    let lane = if set.lane == BudgetLane::Background { " in the background" } else { "" };
    let what = match set.kind {
        LimitKind::AtMost => {
            let amount = i64::try_from(set.amount.unwrap_or_default()).unwrap_or(i64::MAX);
            let amount = set.measure.render(amount);
            let noun =
                if set.measure == BudgetMeasure::Money { String::new() } else { format!(" {}", set.measure) };
            format!("may now use {amount}{noun}{lane} a {}.", set.period)
        }
        LimitKind::None => format!("now has no limit of {}{lane} for the {}.", set.measure, set.period),
        LimitKind::Default => {
            format!("now has the default limit of {}{lane} for the {}.", set.measure, set.period)
        }
    };
    format!("{whom} {what}")
}
