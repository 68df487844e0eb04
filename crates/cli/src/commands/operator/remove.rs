//! `munshi operator remove EMAIL`

use clap::Args;
use munshi_operations::operators::{OperatorInput, RemoveOperator};
use munshi_wiring::failure::Result;

use super::render_revoked_keys;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::ConfirmationPrompt;

#[derive(Debug, Args)]
pub(crate) struct OperatorRemoveArguments {
    /// E-mail of the account
    email: String,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: OperatorRemoveArguments) -> Result<()> {
    let about = format!(
        "This deletes the account of {} permanently: its browsers are signed out and its keys revoked.",
        arguments.email
    );
    ConfirmationPrompt { about, word: &arguments.email, given: arguments.yes }.ask(&context.output)?;
    let target = OperationTarget::installation(Some(&arguments.operator));
    let input = OperatorInput { id: arguments.email };
    let removed = context.run_operation::<RemoveOperator>(&target, &input)?;
    context.output.print_result(&removed, |removed, _| {
        format!("Deleted the account of {}.{}", removed.email, render_revoked_keys(&removed.revoked))
    })
}
