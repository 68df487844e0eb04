//! `munshi tenant archive NAME`

use clap::Args;
use munshi_types::{TenantName, TenantStatus};
use munshi_wiring::failure::Result;

use super::status::{change, find};
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
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
        find(context, name)?;
    }
    let about = format!("Archiving {name} is permanent: it stops answering. Its data and name are kept.");
    ConfirmationPrompt { about, word: name.as_str(), given: arguments.yes }.ask(&context.output)?;
    change(context, (name, &arguments.operator), TenantStatus::Archived, |name| format!("Archived {name}."))
}
