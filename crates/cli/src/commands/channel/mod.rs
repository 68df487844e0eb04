//! `munshi channel …`: the accounts by which messages leave and come.

mod add;
mod list;
mod remove;
mod setup;
mod test;

use std::process::ExitCode;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum ChannelCommand {
    /// Declare an account by which messages leave and come, and say what is left to set up
    Add(Box<add::ChannelAddArguments>),
    /// Try a channel: what its provider says, what is left to set up, and whether a message leaves
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
