//! `munshi sms …`: messages of banks, UPI apps, cards and wallets.

mod answer;
mod import;
mod read;

use clap::Subcommand;

use crate::context::CommandContext;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum SmsCommand {
    /// Say what a message means: money that came or went, or nothing to book and why
    Read(read::SmsReadArguments),
    /// Book the payments of a phone's messages, each once
    Import(import::SmsImportArguments),
}

pub(super) fn run(context: &CommandContext, command: &SmsCommand) -> Result<()> {
    match command {
        SmsCommand::Read(arguments) => read::run(context, arguments),
        SmsCommand::Import(arguments) => import::run(context, arguments),
    }
}
