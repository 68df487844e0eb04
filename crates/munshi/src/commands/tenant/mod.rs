//! `munshi tenant …`: the shops and businesses served here.

mod add;
mod archive;
mod list;
mod of;
mod pause;
mod resume;
mod status;
mod telling;

pub(super) use of::{Of, by_name};
pub(super) use status::{archived, missing};

use clap::Subcommand;
use munshi_types::Tenant;

use crate::context::Context;
use crate::failure::Result;
use crate::output::shown::moment;
use crate::output::table::{Cell, Tone};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a tenant
    Add(add::Arguments),
    /// List tenants, newest first
    List(list::Arguments),
    /// Let a tenant rest: it answers nobody and runs no work until resumed; nothing is lost
    Pause(status::Arguments),
    /// Wake a paused tenant
    Resume(status::Arguments),
    /// Put a tenant away for good; its data and its name stay
    Archive(archive::Arguments),
}

pub(super) fn run(context: &Context, command: Command) -> Result<()> {
    match command {
        Command::Add(arguments) => add::run(context, arguments),
        Command::List(arguments) => list::run(context, &arguments),
        Command::Pause(arguments) => pause::run(context, &arguments),
        Command::Resume(arguments) => resume::run(context, &arguments),
        Command::Archive(arguments) => archive::run(context, &arguments),
    }
}

fn row(tenant: &Tenant) -> [Cell; 5] {
    use munshi_types::TenantStatus;
    let tone = match tenant.status {
        TenantStatus::Active => Tone::Good,
        TenantStatus::Paused => Tone::Doubtful,
        TenantStatus::Archived => Tone::Dim,
    };
    [
        tenant.name.as_str().into(),
        Cell::new(tenant.status.as_str(), tone),
        tenant.zone.as_str().into(),
        moment(tenant.created_at).into(),
        Cell::new(tenant.id.to_string(), Tone::Dim),
    ]
}
