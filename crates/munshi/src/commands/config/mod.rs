//! `munshi config …`: the settings as they came out, as they should be, and what there is.

mod check;
mod example;
mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print every setting, its value and where that came from; secrets are dots
    Show,
    /// Read the settings and list every problem
    Check,
    /// Print a complete settings file to start from
    Example,
}

pub(super) fn run(context: &Context, command: &Command) -> Result<()> {
    match command {
        Command::Show => show::run(context),
        Command::Check => check::run(context),
        Command::Example => example::run(context),
    }
}
