//! `munshi models`: the models of the settings, how they are, and whether they answer.

mod list;
mod test;

use clap::{Args, Subcommand};
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// Show which models this tenant's policy permits
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List models with health and prices; same as `munshi models`
    List,
    /// Send test requests to a model and measure the latency
    Test(test::ModelTestArguments),
}

pub(super) fn run(context: &CommandContext, arguments: &ModelsArguments) -> Result<()> {
    match &arguments.command {
        None | Some(Command::List) => list::run(context, arguments.tenant.as_ref()),
        Some(Command::Test(arguments)) => test::run(context, arguments),
    }
}
