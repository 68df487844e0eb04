//! `munshi import …`: tiers from what another program kept.

mod workspace;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Sort SOUL.md, IDENTITY.md, AGENTS.md, TOOLS.md, MEMORY.md, USER.md and HEARTBEAT.md into tiers
    Workspace(workspace::ImportWorkspaceArguments),
}

pub(super) fn run(context: &CommandContext, command: ImportCommand) -> Result<()> {
    match command {
        ImportCommand::Workspace(arguments) => workspace::run(context, arguments),
    }
}
