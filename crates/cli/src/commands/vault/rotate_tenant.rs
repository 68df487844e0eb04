//! `munshi vault rotate-tenant TENANT`

use clap::Args;
use munshi_operations::vault::{RotateTenantKey, RotateTenantKeyInput, RotatedTenantKeyView};
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use super::OperatorArguments;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct VaultRotateTenantArguments {
    /// Tenant
    tenant: TenantName,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &VaultRotateTenantArguments) -> Result<()> {
    let of = TenantSelectorArguments::named(arguments.tenant.clone());
    let target = OperationTarget { of: &of, operator: Some(&arguments.operator) };
    let rotated = context.run_operation::<RotateTenantKey>(&target, &RotateTenantKeyInput {})?;
    context.output.print_result(&rotated, |rotated, _| render_text(rotated))
}

fn render_text(rotated: &RotatedTenantKeyView) -> String {
    let RotatedTenantKeyView { tenant, number, keys, resumed } = rotated;
    let how = if *resumed { "Finished the rotation of" } else { "Rotated" };
    format!("{how} the key of {tenant} to number {number}; {} re-encrypted.", format_count(*keys, "key"))
}
