//! `munshi models`: the models of the settings, how they are, and whether they answer.

mod list;
mod test;

use clap::{Args, Subcommand};
use munshi_types::TenantName;

use crate::context::CommandContext;
use crate::failure::Result;

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// Say which of them this tenant's policy lets see its data
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List them with their health and prices; the same as `munshi models` alone
    List,
    /// Ask one of them for a word, and say how long it took
    Test(test::ModelTestArguments),
}

pub(super) fn run(context: &CommandContext, arguments: &ModelsArguments) -> Result<()> {
    match &arguments.command {
        None | Some(Command::List) => list::run(context, arguments.tenant.as_ref()),
        Some(Command::Test(arguments)) => test::run(context, arguments),
    }
}
