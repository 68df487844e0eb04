//! `munshi models`: the models of the settings, how they are, whether they answer, and which of them answer a tenant.

mod capabilities;
mod list;
mod test;

use clap::{Args, Subcommand};
use munshi_types::TenantName;
use munshi_wiring::failure::Result;
use munshi_wiring::gateway::open_existing_database;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListOrderArguments;

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// Tenant; in a list, which models its policy permits
    #[arg(long, value_name = "NAME", global = true)]
    tenant: Option<TenantName>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List models with health and prices; same as `munshi models`
    List(ListOrderArguments),
    /// Send test requests to a model and measure the latency
    Test(test::ModelTestArguments),
    /// List what models are used for, and which of them answer a tenant for each use
    Capabilities(ListOrderArguments),
    /// Let other models answer a tenant for one use
    Set(capabilities::ModelSetArguments),
}

pub(super) fn run(context: &CommandContext, arguments: &ModelsArguments) -> Result<()> {
    let tenant = &TenantSelectorArguments::named(arguments.tenant.clone());
    match &arguments.command {
        None => list::run(context, tenant, None),
        Some(Command::List(sorting)) => list::run(context, tenant, sorting.order),
        Some(Command::Test(arguments)) => test::run(context, arguments),
        Some(Command::Capabilities(sorting)) => capabilities::list(context, tenant, sorting.order),
        Some(Command::Set(arguments)) => capabilities::set(context, tenant, arguments),
    }
}

/// Whether there is something to run operations on: a server, or a database.
fn has_database(context: &CommandContext) -> Result<bool> {
    if context.server.is_some() {
        return Ok(true);
    }
    let config = context.config()?;
    context.block_on(async { Ok(open_existing_database(&config).await?.is_some()) })
}
