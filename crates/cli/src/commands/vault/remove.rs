//! `munshi vault remove NAME`

use clap::Args;
use munshi_operations::vault::{RemoveSecret, SecretInput};
use munshi_safety::vault::SecretRef;
use munshi_wiring::failure::Result;

use super::{OperatorArguments, TenantScopeArguments, parse_name};
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct VaultRemoveArguments {
    /// Secret name
    #[arg(value_parser = parse_name)]
    name: SecretRef,
    #[command(flatten)]
    whose: TenantScopeArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &VaultRemoveArguments) -> Result<()> {
    let of = arguments.whose.selector();
    let target = OperationTarget { of: &of, operator: Some(&arguments.operator) };
    let input = SecretInput { name: arguments.name.name().to_owned() };
    let removed = context.run_operation::<RemoveSecret>(&target, &input)?;
    context.output.print_result(&removed, |removed, _| format!("Removed {}.", removed.name))
}
