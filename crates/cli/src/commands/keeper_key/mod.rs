//! `munshi keeper-key …`: what lets whoever keeps the installation in from elsewhere. Listing and revoking are made from
//! their operations.

mod add;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum KeeperKeyCommand {
    /// Create a key that opens the installation and every tenant; it is shown only once
    Add(add::KeeperKeyAddArguments),
}

pub(super) fn run(context: &CommandContext, command: KeeperKeyCommand) -> Result<()> {
    match command {
        KeeperKeyCommand::Add(arguments) => add::run(context, arguments),
    }
}
