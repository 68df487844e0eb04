//! `munshi approvals …`: what agents ask before they act, and the answers.

mod answer;
pub(super) mod labels;
mod list;
mod show;

use clap::{Args, Subcommand};
use munshi_operations::approvals::ApprovalView;
use munshi_wiring::failure::Result;

use super::tenant::TenantSelectorArguments;
use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalCommand {
    /// List pending approvals, newest first
    List(list::ApprovalListArguments),
    /// Show one with its requester, exact arguments and dry-run result
    Show(ApprovalSelectorArguments),
    /// Approve it
    Grant(answer::ApprovalGrantArguments),
    /// Reject it
    Refuse(answer::ApprovalRefuseArguments),
}

/// Which approval of whom.
#[derive(Debug, Args)]
pub(crate) struct ApprovalSelectorArguments {
    /// Its id or a unique prefix
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    of: TenantSelectorArguments,
}

pub(super) fn run(context: &CommandContext, command: ApprovalCommand) -> Result<()> {
    match command {
        ApprovalCommand::List(arguments) => list::run(context, &arguments),
        ApprovalCommand::Show(which) => show::run(context, which),
        ApprovalCommand::Grant(arguments) => answer::grant(context, arguments),
        ApprovalCommand::Refuse(arguments) => answer::refuse(context, arguments),
    }
}

/// Who wants it, in words.
fn describe_asker(approval: &ApprovalView) -> &str {
    match (&approval.asked_by_name, approval.asked_by) {
        (Some(name), _) => name,
        (None, Some(_)) => "a removed person",
        (None, None) => "unknown",
    }
}
