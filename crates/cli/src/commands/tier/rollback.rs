//! `munshi tier rollback TENANT KIND NAME`

use clap::Args;
use munshi_operations::tiers::{RollbackTier, RollbackTierInput};
use munshi_wiring::failure::Result;

use super::TierSelectorArguments;
use crate::commands::apply::{ChangeNoteArguments, refuse_overtaken};
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct TierRollbackArguments {
    #[command(flatten)]
    which: TierSelectorArguments,
    /// Version to roll back to. Default: the previous one
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u32).range(1..))]
    to: Option<u32>,
    #[command(flatten)]
    by: ChangeNoteArguments,
}

pub(super) fn run(context: &CommandContext, arguments: TierRollbackArguments) -> Result<()> {
    let TierSelectorArguments { tenant, kind, name } = arguments.which;
    let (of, operator) = (TenantSelectorArguments::named(tenant), arguments.by.operator());
    let target = OperationTarget { of: &of, operator: Some(&operator) };
    let input = RollbackTierInput { kind, name: name.clone(), to: arguments.to, note: arguments.by.note() };
    let back = context.run_operation::<RollbackTier>(&target, &input).map_err(refuse_overtaken)?;
    context.output.print_result(&back, |back, _| match back.plan.changes.first() {
        None => format!("{kind} {name} is already identical to version {}.", back.back_to),
        Some(change) if change.from == Some(change.to) => {
            format!("{change}Restored from the archive unchanged.\n")
        }
        Some(change) => {
            format!("{change}Rolled back to version {}, as version {}.\n", back.back_to, change.to)
        }
    })
}
