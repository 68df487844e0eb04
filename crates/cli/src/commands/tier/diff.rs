//! `munshi tier diff TENANT KIND NAME [FROM] [TO]`

use clap::Args;
use munshi_operations::tiers::{DiffTier, DiffTierInput, TierDiffView};
use munshi_wiring::failure::Result;

use super::TierSelectorArguments;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;

#[derive(Debug, Args)]
pub(crate) struct TierDiffArguments {
    #[command(flatten)]
    which: TierSelectorArguments,
    /// Version to compare from. Default: the one before TO
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    from: Option<u32>,
    /// Version to compare to. Default: the one in force
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    to: Option<u32>,
}

pub(super) fn run(context: &CommandContext, arguments: TierDiffArguments) -> Result<()> {
    let TierDiffArguments { which: TierSelectorArguments { tenant, kind, name }, from, to } = arguments;
    let of = TenantSelectorArguments::named(tenant);
    let target = OperationTarget { of: &of, operator: None };
    let diff = context.run_operation::<DiffTier>(&target, &DiffTierInput { kind, name, from, to })?;
    context.output.print_result(&diff, render_text)
}

fn render_text(diff: &TierDiffView, painter: TextStyler) -> String {
    let TierDiffView { kind, name, from, to, changes } = diff;
    let mut text = format!("{kind} {}, version {from} to {to}\n", painter.bold(name.as_str()));
    if changes.is_empty() {
        text += "    no changes\n";
    }
    changes.iter().for_each(|change| text += &change.to_string());
    text
}
