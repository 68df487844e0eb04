//! `munshi prompt …`: what a model would be told.
//!
//! # Layout
//! - `show`: the command; `binding`: which binding is meant
//! - `fixture`: what the turn brings along; `text`: the prompt as people read it

pub(super) mod binding;
mod fixture;
mod show;
mod text;

use clap::Subcommand;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Print the exact prompt for a message, block by block, with token counts and omissions
    Show(show::PromptShowArguments),
}

pub(super) fn run(context: &CommandContext, command: &PromptCommand) -> Result<()> {
    match command {
        PromptCommand::Show(arguments) => show::run(context, arguments),
    }
}
