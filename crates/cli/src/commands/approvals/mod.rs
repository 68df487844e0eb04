//! `munshi approvals …`: what agents ask before they act, and the answers.

mod answer;
pub(super) mod labels;
mod list;
mod show;

use clap::{Args, Subcommand};
use munshi_identity::persons;
use munshi_safety::approvals::{self, Approval, ApprovalStatus};
use munshi_store::Tx;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;

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

/// An approval with the names of those it speaks of.
#[derive(Debug, Serialize)]
struct Named {
    #[serde(flatten)]
    approval: Approval,
    asked_by_name: Option<String>,
    answered_by_name: Option<String>,
    /// Whom it went to when nobody had answered in time.
    escalated_to_names: Vec<String>,
}

impl Named {
    fn load(tx: &mut Tx<'_>, approval: Approval) -> Result<Self> {
        let mut name = |id| match id {
            None => Ok(None),
            Some(id) => persons::find(tx, id).map(|person| person.map(|person| person.name)),
        };
        let (asked_by_name, answered_by_name) = (name(approval.asked_by)?, name(approval.answered_by)?);
        let above = approval.escalated_to.iter().flatten();
        let names = above.map(|id| name(Some(*id))).collect::<Result<Vec<_>, _>>()?;
        let escalated_to_names = names.into_iter().flatten().collect();
        Ok(Self { approval, asked_by_name, answered_by_name, escalated_to_names })
    }

    /// Who wants it, in words.
    fn asker(&self) -> &str {
        match (&self.asked_by_name, self.approval.asked_by) {
            (Some(name), _) => name,
            (None, Some(_)) => "a removed person",
            (None, None) => "unknown",
        }
    }
}

/// The approval whose id begins so. Where several do, the one that still waits is meant.
fn find(tx: &mut Tx<'_>, beginning: &str) -> Result<Approval> {
    let mut found = approvals::list_by_prefix(tx, beginning)?;
    if found.len() > 1 && found.iter().filter(|one| one.state == ApprovalStatus::Pending).count() == 1 {
        found.retain(|one| one.state == ApprovalStatus::Pending);
    }
    match found.len() {
        0 => Err(not_found_failure(beginning)),
        1 => Ok(found.remove(0)),
        _ => {
            let ids: Vec<String> = found.iter().map(|one| one.id.to_string()).collect();
            Err(CommandFailure::usage(format!("several approvals start with {beginning}"))
                .hint(format!("use a longer prefix: {}", ids.join(", "))))
        }
    }
}

fn not_found_failure(id: &str) -> CommandFailure {
    CommandFailure::not_found(format!("there is no approval {id}"))
        .hint("`munshi approvals list` shows pending ones")
}
