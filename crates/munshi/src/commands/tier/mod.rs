//! `munshi tier …`: one human, team, agent or binding, and its versions.

mod list;
mod log;
mod rollback;
mod show;

use clap::{Args, Subcommand};
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierName};

use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List a tenant's tiers
    List(list::Arguments),
    /// Say who changed what, when and why, the newest first
    Log(Which),
    /// Show a tier; an agent with where each value came from
    Show(show::Arguments),
    /// Go back to an older version, as a new version
    Rollback(rollback::Arguments),
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Whose
    tenant: TenantName,
    /// human, team, agent or binding
    kind: TierKind,
    /// Its name
    name: TierName,
}

pub(super) fn run(context: &Context, command: Command) -> Result<()> {
    match command {
        Command::List(arguments) => list::run(context, &arguments),
        Command::Log(which) => log::run(context, &which),
        Command::Show(arguments) => show::run(context, &arguments),
        Command::Rollback(arguments) => rollback::run(context, arguments),
    }
}
