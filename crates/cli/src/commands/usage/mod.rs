//! `munshi usage`: what tenants use, and what they may.

mod limit;
mod plan;
mod show;

use clap::{Args, Subcommand};
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct UsageArguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    show: show::UsageShowArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show or change a tenant's plan
    Plan(plan::UsagePlanArguments),
    /// Set a limit for a tenant, its bindings or its people
    Limit(limit::UsageLimitArguments),
}

pub(super) fn run(context: &CommandContext, arguments: &UsageArguments) -> Result<()> {
    match &arguments.command {
        None => show::run(context, &arguments.show),
        Some(Command::Plan(arguments)) => plan::run(context, arguments),
        Some(Command::Limit(arguments)) => limit::run(context, arguments),
    }
}
