//! `munshi policy …`: what a tenant allows.

mod log;
mod show;
mod spec;
mod test;
mod words;

use clap::Subcommand;

use super::tenant::Of;
use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the policy in force, as its file
    Show(Of),
    /// Show every version: who, when, why, and what changed
    Log(Of),
    /// Say what would be decided about a call, stage by stage. Nothing is done
    Test(test::Arguments),
}

pub(super) fn run(context: &Context, command: Command) -> Result<()> {
    match command {
        Command::Show(of) => show::run(context, &of),
        Command::Log(of) => log::run(context, &of),
        Command::Test(arguments) => test::run(context, &arguments),
    }
}
