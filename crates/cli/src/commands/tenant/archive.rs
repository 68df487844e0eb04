//! `munshi tenant archive NAME`

use clap::Args;
use munshi_operations::tenants::{ArchiveTenant, ShowTenant, TenantInput};
use munshi_pack::operation::OperationError;
use munshi_types::{TenantName, TenantStatus};
use munshi_wiring::failure::Result;

use super::status::change;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::ConfirmationPrompt;

#[derive(Debug, Args)]
pub(crate) struct TenantArchiveArguments {
    /// Tenant
    name: TenantName,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &TenantArchiveArguments) -> Result<()> {
    let name = &arguments.name;
    if !arguments.yes {
        // Nobody should have to confirm what can't be done anyway.
        let target = OperationTarget::installation(None);
        let tenant = context.run_operation::<ShowTenant>(&target, &TenantInput { name: name.clone() })?;
        if tenant.status == TenantStatus::Archived {
            return Err(OperationError::archived(name).into());
        }
    }
    let about = format!("Archiving {name} is permanent: it stops answering. Its data and name are kept.");
    ConfirmationPrompt { about, word: name.as_str(), given: arguments.yes }.ask(&context.output)?;
    change::<ArchiveTenant>(context, (name, &arguments.operator), |name| format!("Archived {name}."))
}
