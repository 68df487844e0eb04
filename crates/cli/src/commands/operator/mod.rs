//! `munshi operator …`: who looks after tenants through the web.

mod invitations;
mod invite;
mod link;
mod list;
mod prove;
mod remove;
mod role;
mod withdraw;

use clap::Subcommand;
use munshi_operations::operators::{LinkDelivery, OneTimeLinkView};
use munshi_wiring::failure::Result;

use crate::context::CommandContext;
use crate::output::formatting::format_time;

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Create a one-time link for the first operator or one who is locked out
    Link(link::OperatorLinkArguments),
    /// Create a one-time link that invites somebody as operator of a tenant
    Invite(invite::OperatorInviteArguments),
    /// Withdraw the invitations of an e-mail
    Withdraw(withdraw::OperatorWithdrawArguments),
    /// List operators and their roles, or open invitations
    List(list::OperatorListArguments),
    /// Change or remove an operator's role in a tenant
    Role(role::OperatorRoleArguments),
    /// Confirm that an account's e-mail belongs to its holder. The first time, its password and sign-ins are revoked
    Prove(prove::OperatorProveArguments),
    /// Delete an operator's account permanently
    Remove(remove::OperatorRemoveArguments),
}

pub(super) fn run(context: &CommandContext, command: OperatorCommand) -> Result<()> {
    match command {
        OperatorCommand::Link(arguments) => link::run(context, arguments),
        OperatorCommand::Invite(arguments) => invite::run(context, arguments),
        OperatorCommand::Withdraw(arguments) => withdraw::run(context, arguments),
        OperatorCommand::List(arguments) => list::run(context, arguments),
        OperatorCommand::Role(arguments) => role::run(context, arguments),
        OperatorCommand::Prove(arguments) => prove::run(context, arguments),
        OperatorCommand::Remove(arguments) => remove::run(context, arguments),
    }
}

/// A link, the one time, or where it went.
fn print_link(context: &CommandContext, link: &OneTimeLinkView, about: &str) -> Result<()> {
    context.output.print_result(link, |shown, painter| {
        let ends = format_time(shown.ends_at);
        let to = shown.sent_to.as_deref().unwrap_or("their address");
        let Some(link) = &shown.link else {
            return match shown.delivery {
                LinkDelivery::Unknown => format!(
                    "Nobody knows whether the mail to {to} has arrived. If it has not, make another link, or show one with --show."
                ),
                _ => format!("The link was sent to {to}. It works once, until {ends} UTC."),
            };
        };
        let why = shown.not_mailed.as_ref().map(|why| format!("It could not go by mail: {why}\n")).unwrap_or_default();
        format!("{why}{about} It works once, until {ends} UTC, and is not shown again:\n\n  {}\n", painter.bold(link))
    })
}

/// The keys that went with a role, in words.
fn render_revoked_keys(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(" The keys they created are revoked: {}.", names.join(", ")),
    }
}
