//! `munshi prompt …`: what a model would be told.
//!
//! # Layout
//! - `show`: the command; `binding`: which binding is meant
//! - `moment`: what the turn brings along; `words`: the prompt as people read it

pub(super) mod binding;
mod moment;
mod show;
mod words;

use clap::Subcommand;

use crate::context::CommandContext;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Print the exact prompt that a message would make, block by block, with its tokens and what was left out
    Show(show::PromptShowArguments),
}

pub(super) fn run(context: &CommandContext, command: &PromptCommand) -> Result<()> {
    match command {
        PromptCommand::Show(arguments) => show::run(context, arguments),
    }
}
