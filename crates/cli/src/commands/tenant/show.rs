//! `munshi tenant show NAME`

use clap::Args;
use munshi_operations::tenants::{ShowTenant, TenantInput};
use munshi_pack::operation::ListView;
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use super::list::render_text;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct TenantShowArguments {
    /// Tenant
    name: TenantName,
}

pub(super) fn run(context: &CommandContext, arguments: TenantShowArguments) -> Result<()> {
    let input = TenantInput { name: arguments.name };
    let tenant = context.run_operation::<ShowTenant>(&OperationTarget::installation(None), &input)?;
    context.output.print_result(&tenant, |tenant, painter| {
        render_text(&ListView { items: vec![tenant.clone()], next: None }, painter)
    })
}
