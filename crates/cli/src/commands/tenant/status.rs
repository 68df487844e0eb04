//! What pausing, resuming and archiving share.

use clap::Args;
use munshi_operations::HouseServices;
use munshi_operations::tenants::{ChangedTenantView, TenantInput};
use munshi_pack::operation::Operation;
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct TenantStatusArguments {
    /// Tenant
    pub(super) name: TenantName,
    #[command(flatten)]
    pub(super) operator: OperatorArguments,
}

/// Sets the status and says so with `words`, which are told the tenant's name.
pub(super) fn change<O>(
    context: &CommandContext,
    (name, operator): (&TenantName, &OperatorArguments),
    words: impl FnOnce(&TenantName) -> String,
) -> Result<()>
where
    O: Operation<HouseServices, Input = TenantInput, View = ChangedTenantView>,
{
    let input = TenantInput { name: name.clone() };
    let outcome = context.run_operation::<O>(&OperationTarget::installation(Some(operator)), &input)?;
    context.output.print_result(&outcome, |outcome, _| match outcome.changed {
        true => words(name),
        false => format!("{name} was already {}.", outcome.tenant.status),
    })
}
