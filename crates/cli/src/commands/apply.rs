//! `munshi apply DIR`: a tenant brought to what its folder says, in one transaction.

use clap::Args;
use munshi_operations::folders::{ApplyFolder, ApplyFolderInput, FolderPlansView};
use munshi_tiers::Authorship;
use munshi_types::Zone;
use munshi_wiring::failure::{CommandFailure, Exit, Result};

use super::diff;
use super::tenant::WHAT_TO_KEEP;
use super::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    folder: diff::TenantFolderArguments,
    #[command(flatten)]
    by: ChangeNoteArguments,
    /// Time zone of a new tenant
    #[arg(long)]
    zone: Option<Zone>,
}

/// What stands in the history.
#[derive(Debug, Args)]
pub(crate) struct ChangeNoteArguments {
    /// Author, for the history
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true, default_value = "somebody")]
    author: String,
    /// Reason, for the history
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

impl ChangeNoteArguments {
    pub(super) fn operator(&self) -> OperatorArguments {
        OperatorArguments::new(&self.author)
    }

    /// None where none was given.
    pub(super) fn note(&self) -> Option<String> {
        Some(self.note.clone()).filter(|note| !note.is_empty())
    }

    pub(super) fn authorship(
        self,
        context: &CommandContext,
        otherwise: impl FnOnce() -> String,
    ) -> Authorship {
        let note = if self.note.is_empty() { otherwise() } else { self.note };
        Authorship { author: self.author, note, made_at: context.now() }
    }
}

pub(super) fn run(context: &CommandContext, arguments: ApplyArguments) -> Result<()> {
    let input = ApplyFolderInput {
        folders: arguments.folder.read(context)?,
        prune: Some(arguments.folder.prune),
        zone: arguments.zone,
        note: arguments.by.note(),
    };
    let operator = arguments.by.operator();
    let target = OperationTarget::installation(Some(&operator));
    let done = context.run_operation_on_new::<ApplyFolder>(&target, &input).map_err(refuse_overtaken)?;
    context.output.print_result(&done, |done, painter| diff::render_text(done, painter) + &render_end(done))
}

/// Whoever was overtaken, or finds an address taken, is refused: there is nothing of theirs already.
pub(super) fn refuse_overtaken(mut failure: CommandFailure) -> CommandFailure {
    if failure.exit == Exit::AlreadyThere {
        failure.exit = Exit::Refused;
    }
    failure
}

/// What was done, after what was to be done.
fn render_end(done: &FolderPlansView) -> String {
    let changes: usize = done.plans.iter().map(|plan| plan.changes.len() + plan.files.len()).sum();
    let is_new = done.plans.iter().any(|plan| plan.is_new);
    let end = if changes > 0 {
        let logins: String = done.logins.iter().map(|gone| format!("{}\n", gone.note)).collect();
        format!("Applied {}.\n{logins}", format_count(changes as u64, "change"))
    } else if is_new {
        "Created the tenant; there were no tiers to apply.\n".to_owned()
    } else {
        String::new()
    };
    if is_new { format!("{end}{WHAT_TO_KEEP}\n") } else { end }
}
