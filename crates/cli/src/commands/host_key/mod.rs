//! `munshi host-key …`: with what a host's own server says who its visitors are.

mod add;
mod list;
mod retire;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum HostKeyCommand {
    /// Add a key; a host can have two valid keys at once, for rotation
    Add(add::HostKeyAddArguments),
    /// List keys
    List(list::HostKeyListArguments),
    /// Expire a key
    Retire(retire::HostKeyRetireArguments),
}

pub(super) fn run(context: &CommandContext, command: HostKeyCommand) -> Result<()> {
    match command {
        HostKeyCommand::Add(arguments) => add::run(context, &arguments),
        HostKeyCommand::List(arguments) => list::run(context, &arguments),
        HostKeyCommand::Retire(arguments) => retire::run(context, &arguments),
    }
}
