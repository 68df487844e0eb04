//! `munshi jobs …`: background work as people see it.

mod list;
mod retry;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// List jobs in one state, newest first
    List(list::JobListArguments),
    /// Retry dead jobs
    Retry(retry::JobRetryArguments),
}

pub(super) fn run(context: &CommandContext, command: JobCommand) -> Result<()> {
    match command {
        JobCommand::List(arguments) => list::run(context, arguments),
        JobCommand::Retry(arguments) => retry::run(context, arguments),
    }
}
