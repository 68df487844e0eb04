//! `munshi jobs …`: background work as people see it.

mod list;
mod retry;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List jobs in one state, newest first
    List(list::Arguments),
    /// Run jobs again that were given up
    Retry(retry::Arguments),
}

pub(super) fn run(context: &Context, command: Command) -> Result<()> {
    match command {
        Command::List(arguments) => list::run(context, &arguments),
        Command::Retry(arguments) => retry::run(context, arguments),
    }
}
