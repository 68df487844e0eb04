//! `munshi sms …`: messages of banks, UPI apps, cards and wallets.

mod answer;
mod import;
mod read;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what a message means: money that came or went, or nothing to book and why
    Read(read::Arguments),
    /// Book the payments of a phone's messages, each once
    Import(import::Arguments),
}

pub(super) fn run(context: &Context, command: &Command) -> Result<()> {
    match command {
        Command::Read(arguments) => read::run(context, arguments),
        Command::Import(arguments) => import::run(context, arguments),
    }
}
