//! `munshi operator link [EMAIL]`

use clap::Args;
use munshi_operations::operators::{
    LinkOnlyOperator, LinkOnlyOperatorInput, LinkOperator, LinkOperatorInput,
};
use munshi_wiring::failure::{CommandFailure, Result};

use super::print_link;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct OperatorLinkArguments {
    /// Operator whose password to reset. Default: the only operator, or the first one to create
    email: Option<String>,
    /// Show the link here, also where it could go by mail
    #[arg(long)]
    show: bool,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: OperatorLinkArguments) -> Result<()> {
    let target = OperationTarget::installation(Some(&arguments.operator));
    let link = match arguments.email {
        Some(id) => {
            let input = LinkOperatorInput { id, show: arguments.show.then_some(true) };
            context.run_operation::<LinkOperator>(&target, &input)?
        }
        None if context.server.is_some() => {
            return Err(CommandFailure::usage(
                "the first operator's link is made on the machine itself only",
            )
            .hint("name an operator: munshi operator link EMAIL"));
        }
        None => context.run_operation::<LinkOnlyOperator>(&target, &LinkOnlyOperatorInput {})?,
    };
    let about = match &link.email {
        Some(email) => format!("This link lets {email} choose a new password and sign in."),
        None => "This link creates the first operator.".to_owned(),
    };
    print_link(context, &link, &about)
}
