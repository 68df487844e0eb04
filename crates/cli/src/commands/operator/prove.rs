//! `munshi operator prove EMAIL`

use clap::Args;
use munshi_operations::operators::{OperatorInput, ProveOperator};
use munshi_wiring::failure::Result;

use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct OperatorProveArguments {
    /// E-mail of the account
    email: String,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: OperatorProveArguments) -> Result<()> {
    let target = OperationTarget::installation(Some(&arguments.operator));
    let input = OperatorInput { id: arguments.email };
    let proved = context.run_operation::<ProveOperator>(&target, &input)?;
    context.output.print_result(&proved, |proved, _| {
        let email = &proved.email;
        match proved.first {
            true => format!(
                "{email} is verified. Its password, sign-ins, links and keys are revoked. Run `munshi operator link {email}` for a link \
                 to set a new password."
            ),
            false => format!("{email} was already verified; nothing changed."),
        }
    })
}
