//! `munshi models`: the models of the settings, how they are, and whether they answer.

mod list;
mod test;

use clap::{Args, Subcommand};
use munshi_types::TenantName;

use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
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
    Test(test::Arguments),
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    match &arguments.command {
        None | Some(Command::List) => list::run(context, arguments.tenant.as_ref()),
        Some(Command::Test(arguments)) => test::run(context, arguments),
    }
}
