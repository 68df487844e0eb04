//! `munshi usage`: what tenants use, and what they may.

mod audit_log;
mod limit;
mod plan;
mod show;

use clap::{Args, Subcommand};
use munshi_store::{Db, tenants};
use munshi_types::{Tenant, TenantName};
use munshi_wiring::failure::Result;

use crate::commands::tenant::not_found_failure;
use crate::context::CommandContext;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct UsageArguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    show: show::UsageShowArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show or change a tenant's plan
    Plan(plan::UsagePlanArguments),
    /// Set a limit for a tenant, its bindings or its people
    Limit(limit::UsageLimitArguments),
}

pub(super) fn run(context: &CommandContext, arguments: &UsageArguments) -> Result<()> {
    match &arguments.command {
        None => show::run(context, &arguments.show),
        Some(Command::Plan(arguments)) => plan::run(context, arguments),
        Some(Command::Limit(arguments)) => limit::run(context, arguments),
    }
}

async fn find(db: &Db, name: &TenantName) -> Result<Tenant> {
    let asked = name.clone();
    let read = move |tx: &mut munshi_store::PlatformTx<'_>| tenants::find_by_name(tx, &asked);
    let found = db.platform(munshi_safety::budget::BUDGET).read(read).await?;
    found.ok_or_else(|| not_found_failure(name))
}
