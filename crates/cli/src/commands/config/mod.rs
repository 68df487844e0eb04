//! `munshi config …`: the settings as they came out, as they should be, and what there is.

mod check;
mod example;
mod show;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting, its value and its source; secrets are redacted
    Show,
    /// Validate the settings and list every problem
    Check,
    /// Print a complete settings file to start from
    Example,
}

pub(super) fn run(context: &CommandContext, command: &ConfigCommand) -> Result<()> {
    match command {
        ConfigCommand::Show => show::run(context),
        ConfigCommand::Check => check::run(context),
        ConfigCommand::Example => example::run(context),
    }
}
