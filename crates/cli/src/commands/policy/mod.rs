//! `munshi policy …`: what a tenant allows.

mod log;
mod report;
mod show;
mod spec;
mod test;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use super::tenant::TenantSelectorArguments;
use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show the policy in force, as its file
    Show(TenantSelectorArguments),
    /// Show every version: who, when, why, and what changed
    Log(log::PolicyLogArguments),
    /// Evaluate a call stage by stage, without running it
    Test(test::PolicyTestArguments),
}

pub(super) fn run(context: &CommandContext, command: PolicyCommand) -> Result<()> {
    match command {
        PolicyCommand::Show(of) => show::run(context, &of),
        PolicyCommand::Log(arguments) => log::run(context, &arguments),
        PolicyCommand::Test(arguments) => test::run(context, &arguments),
    }
}
