//! `munshi person …`: the people of a tenant.

mod add;
mod export;
mod find;
mod forget;
mod leave;
mod list;
mod set;
mod show;

pub(super) use find::find;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum PersonCommand {
    /// Add a staff member or contact of the tenant
    Add(add::PersonAddArguments),
    /// List people, newest first
    List(list::PersonListArguments),
    /// Show a person and their addresses
    Show(show::PersonShowArguments),
    /// Change a person's role, name, tags, language, addresses or scopes
    Set(set::PersonSetArguments),
    /// Write all that is known about a person to a file, to give it to them
    Export(export::PersonExportArguments),
    /// Forget a person for good: destroy the keys of their text, remove it, pseudonymise what packs know of them
    Forget(forget::PersonForgetArguments),
    /// Mark a person as left; they lose all access
    Leave(leave::PersonLeaveArguments),
}

pub(super) fn run(context: &CommandContext, command: PersonCommand) -> Result<()> {
    match command {
        PersonCommand::Add(arguments) => add::run(context, arguments),
        PersonCommand::List(arguments) => list::run(context, &arguments),
        PersonCommand::Show(arguments) => show::run(context, arguments),
        PersonCommand::Set(arguments) => set::run(context, arguments),
        PersonCommand::Export(arguments) => export::run(context, &arguments),
        PersonCommand::Forget(arguments) => forget::run(context, arguments),
        PersonCommand::Leave(arguments) => leave::run(context, arguments),
    }
}

/// A handle is told from other addresses by its @.
fn mark_handles(handles: &[String]) -> Vec<String> {
    handles.iter().map(|handle| format!("@{}", handle.trim_start_matches('@'))).collect()
}
