//! `munshi channel …`: the accounts by which messages leave.

mod add;
mod list;
mod remove;
mod test;

use std::process::ExitCode;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum ChannelCommand {
    /// Declare an account by which messages leave
    Add(add::ChannelAddArguments),
    /// Send a message by a channel and say what is wrong if it does not leave
    Test(test::ChannelTestArguments),
    /// List channels
    List(list::ChannelListArguments),
    /// Remove a channel
    Remove(remove::ChannelRemoveArguments),
}

pub(super) fn run(context: &CommandContext, command: ChannelCommand) -> Result<ExitCode> {
    match command {
        ChannelCommand::Add(arguments) => add::run(context, &arguments),
        ChannelCommand::Test(arguments) => return test::run(context, arguments),
        ChannelCommand::List(arguments) => list::run(context, &arguments),
        ChannelCommand::Remove(arguments) => remove::run(context, arguments),
    }
    .map(|()| ExitCode::SUCCESS)
}
