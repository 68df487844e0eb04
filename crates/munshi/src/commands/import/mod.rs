//! `munshi import …`: tiers from what another program kept.

mod workspace;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sort SOUL.md, IDENTITY.md, AGENTS.md, TOOLS.md, MEMORY.md, USER.md and HEARTBEAT.md into tiers
    Workspace(workspace::Arguments),
}

pub(super) fn run(context: &Context, command: Command) -> Result<()> {
    match command {
        Command::Workspace(arguments) => workspace::run(context, arguments),
    }
}
