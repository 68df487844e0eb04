//! `munshi operator withdraw EMAIL`

use clap::Args;
use munshi_operations::invitations::{WithdrawInvitations, WithdrawInvitationsInput};
use munshi_wiring::failure::Result;

use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct OperatorWithdrawArguments {
    /// Invited e-mail, in any tenant
    email: String,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: OperatorWithdrawArguments) -> Result<()> {
    let target = OperationTarget::installation(Some(&arguments.operator));
    let input = WithdrawInvitationsInput { email: arguments.email };
    let withdrawn = context.run_operation::<WithdrawInvitations>(&target, &input)?;
    context.output.print_result(&withdrawn, |withdrawn, _| {
        let invitations = format_count(withdrawn.withdrawn, "invitation");
        format!("Withdrew {invitations} of {}.", withdrawn.email)
    })
}
