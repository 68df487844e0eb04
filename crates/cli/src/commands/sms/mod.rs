//! `munshi sms …`: messages of banks, UPI apps, cards and wallets.

mod import;
mod read;
mod report;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum SmsCommand {
    /// Parse a message: a payment received or made, or why it is not one
    Read(read::SmsReadArguments),
    /// Record the payments in a phone's messages, each once
    Import(import::SmsImportArguments),
}

pub(super) fn run(context: &CommandContext, command: &SmsCommand) -> Result<()> {
    match command {
        SmsCommand::Read(arguments) => read::run(context, arguments),
        SmsCommand::Import(arguments) => import::run(context, arguments),
    }
}
