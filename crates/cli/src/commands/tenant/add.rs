//! `munshi tenant add NAME`

use clap::Args;
use munshi_operations::tenants::{AddTenant, AddTenantInput};
use munshi_types::{TenantName, Zone};
use munshi_wiring::failure::Result;

use super::WHAT_TO_KEEP;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct TenantAddArguments {
    /// 1 to 63 lowercase letters, digits and hyphens, such as sharma-kirana
    name: TenantName,
    /// Time zone for days and schedules
    #[arg(long, default_value_t)]
    zone: Zone,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: TenantAddArguments) -> Result<()> {
    let input = AddTenantInput { name: arguments.name, zone: Some(arguments.zone) };
    let target = OperationTarget::installation(Some(&arguments.operator));
    let tenant = context.run_operation::<AddTenant>(&target, &input)?;
    context.output.print_result(&tenant, |tenant, _| {
        format!("Added {}, in {}. Its id is {}.\n{WHAT_TO_KEEP}", tenant.name, tenant.zone, tenant.id)
    })
}
