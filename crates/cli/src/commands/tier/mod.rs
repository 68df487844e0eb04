//! `munshi tier …`: one human, team, agent or binding, and its versions.

mod diff;
mod list;
mod log;
mod rollback;
mod show;

use clap::{Args, Subcommand};
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierName};
use munshi_wiring::failure::Result;

use crate::context::CommandContext;

/// Rows that are asked for at once where all are shown.
const PAGE: u32 = 500;

#[derive(Debug, Subcommand)]
pub(crate) enum TierCommand {
    /// List a tenant's tiers
    List(list::TierListArguments),
    /// Show the history: who changed what, when and why, newest first
    Log(log::TierLogArguments),
    /// Show a tier; for an agent, with the source of each value
    Show(show::TierShowArguments),
    /// Compare any two versions
    Diff(diff::TierDiffArguments),
    /// Roll back to an older version, as a new version
    Rollback(rollback::TierRollbackArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TierSelectorArguments {
    /// Tenant
    tenant: TenantName,
    /// human, team, agent or binding
    kind: TierKind,
    /// Its name
    name: TierName,
}

pub(super) fn run(context: &CommandContext, command: TierCommand) -> Result<()> {
    match command {
        TierCommand::List(arguments) => list::run(context, arguments),
        TierCommand::Log(arguments) => log::run(context, arguments),
        TierCommand::Show(arguments) => show::run(context, arguments),
        TierCommand::Diff(arguments) => diff::run(context, arguments),
        TierCommand::Rollback(arguments) => rollback::run(context, arguments),
    }
}
