//! `munshi operator invite EMAIL`

use clap::Args;
use munshi_identity::Role;
use munshi_operations::invitations::{InviteKeeper, InviteKeeperInput, InviteOperator, InviteOperatorInput};
use munshi_wiring::failure::Result;

use super::print_link;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct OperatorInviteArguments {
    /// E-mail to invite
    email: String,
    /// Show the link here, also where it could go by mail
    #[arg(long)]
    show: bool,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct What {
    /// owner, admin, staff or viewer of the tenant
    #[arg(long)]
    role: Option<Role>,
    /// Keeper of the installation: owner of every tenant
    #[arg(long)]
    keeper: bool,
}

pub(super) fn run(context: &CommandContext, arguments: OperatorInviteArguments) -> Result<()> {
    let OperatorInviteArguments { email, show, what, of, operator } = arguments;
    let show = show.then_some(true);
    let about = format!("Send this link to {email}; `munshi operator withdraw` revokes it.");
    let link = match what.role {
        Some(role) => {
            let target = OperationTarget { of: &of, operator: Some(&operator) };
            context.run_operation::<InviteOperator>(&target, &InviteOperatorInput { email, role, show })?
        }
        None => {
            let target = OperationTarget::installation(Some(&operator));
            context.run_operation::<InviteKeeper>(&target, &InviteKeeperInput { email, show })?
        }
    };
    print_link(context, &link, &about)
}
