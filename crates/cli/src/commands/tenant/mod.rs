//! `munshi tenant …`: the shops and businesses served here.

mod add;
mod archive;
mod list;
mod pause;
mod resume;
mod selector;
mod show;
mod status;

pub(crate) use selector::TenantSelectorArguments;
pub(super) use selector::get_by_name;

use clap::Subcommand;
use munshi_operations::tenants::TenantView;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTableCell};

/// Told where a tenant is made: before anybody writes to it.
pub(super) const WHAT_TO_KEEP: &str = "Keep copies of the database, the vault's key and the store of keys (`munshi backup`, `munshi backup --keys`).\n\
    If the store of keys is lost, nobody can read what people wrote, you included.";

#[derive(Debug, Subcommand)]
pub(crate) enum TenantCommand {
    /// Add a tenant
    Add(add::TenantAddArguments),
    /// List tenants, newest first
    List(list::TenantListArguments),
    /// Show a tenant
    Show(show::TenantShowArguments),
    /// Pause a tenant: it answers nobody and runs no jobs until resumed
    Pause(status::TenantStatusArguments),
    /// Resume a paused tenant
    Resume(status::TenantStatusArguments),
    /// Archive a tenant permanently; its data and name are kept
    Archive(archive::TenantArchiveArguments),
}

pub(super) fn run(context: &CommandContext, command: TenantCommand) -> Result<()> {
    match command {
        TenantCommand::Add(arguments) => add::run(context, arguments),
        TenantCommand::List(arguments) => list::run(context, &arguments),
        TenantCommand::Show(arguments) => show::run(context, arguments),
        TenantCommand::Pause(arguments) => pause::run(context, &arguments),
        TenantCommand::Resume(arguments) => resume::run(context, &arguments),
        TenantCommand::Archive(arguments) => archive::run(context, &arguments),
    }
}

fn row(tenant: &TenantView) -> [OutputTableCell; 5] {
    use munshi_types::TenantStatus;
    let tone = match tenant.status {
        TenantStatus::Active => OutputCellStyle::Good,
        TenantStatus::Paused => OutputCellStyle::Doubtful,
        TenantStatus::Archived => OutputCellStyle::Dim,
    };
    [
        tenant.name.as_str().into(),
        OutputTableCell::new(tenant.status.as_str(), tone),
        tenant.zone.as_str().into(),
        format_time(tenant.created_at).into(),
        OutputTableCell::new(tenant.id.to_string(), OutputCellStyle::Dim),
    ]
}
