//! What pausing, resuming and archiving share: one tenant, found by name, given another status.

use clap::Args;
use munshi_safety::audit::AuditEvent;
use munshi_store::tenants::{self, TENANTS};
use munshi_types::{Tenant, TenantName, TenantStatus};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;

use super::audit_context::TenantAuditContext;
use super::get_by_name;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct TenantStatusArguments {
    /// Tenant
    pub(super) name: TenantName,
    #[command(flatten)]
    pub(super) operator: OperatorArguments,
}

#[derive(Debug, Serialize)]
struct Changed {
    #[serde(flatten)]
    tenant: Tenant,
    /// False when it was so already.
    changed: bool,
}

/// What the database said.
enum Outcome {
    Changed(Changed),
    Archived,
    Missing,
}

/// Sets the status and says so with `words`, which are told the tenant's name.
pub(super) fn change(
    context: &CommandContext,
    (name, operator): (&TenantName, &OperatorArguments),
    status: TenantStatus,
    words: impl FnOnce(&TenantName) -> String,
) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let outcome = context.block_on(async {
        let db = database.open().await?;
        let tenant = get_by_name(&db, name).await?;
        let telling = TenantAuditContext::from_operator(context, operator, &db, tenant.id).await?;
        let asked = tenant.name;
        db.platform(TENANTS).write(move |tx| set(tx, &asked, status, &telling)).await
    })?;
    match outcome {
        Outcome::Missing => Err(not_found_failure(name)),
        Outcome::Archived => Err(archived_failure(name)),
        Outcome::Changed(changed) => {
            context.output.print_result(&changed, |changed, _| match changed.changed {
                true => words(name),
                false => format!("{name} was already {status}."),
            })
        }
    }
}

fn set(
    tx: &mut munshi_store::PlatformTx<'_>,
    name: &TenantName,
    status: TenantStatus,
    telling: &TenantAuditContext,
) -> Result<Outcome> {
    let Some(tenant) = tenants::find_by_name(tx, name)? else { return Ok(Outcome::Missing) };
    if tenant.status == status {
        return Ok(Outcome::Changed(Changed { tenant, changed: false }));
    }
    // Whether its bindings answer depends on it.
    munshi_tiers::mark_tenant_changed(tx, tenant.id)?;
    if !tenants::set_status(tx, tenant.id, status)? {
        return Ok(Outcome::Archived);
    }
    let tenant = Tenant { status, ..tenant };
    let event = match status {
        TenantStatus::Active => AuditEvent::TENANT_RESUMED,
        TenantStatus::Paused => AuditEvent::TENANT_PAUSED,
        TenantStatus::Archived => AuditEvent::TENANT_ARCHIVED,
    };
    telling.record(tx, &tenant, event)?;
    Ok(Outcome::Changed(Changed { tenant, changed: true }))
}

/// The tenant, as long as something may still change about it.
pub(super) fn find(context: &CommandContext, name: &TenantName) -> Result<Tenant> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let asked = name.clone();
    let found = context.block_on(async {
        let db = database.open().await?;
        Ok(db.platform(TENANTS).read(move |tx| tenants::find_by_name(tx, &asked)).await?)
    })?;
    match found {
        Some(tenant) if tenant.status == TenantStatus::Archived => Err(archived_failure(name)),
        found => found.ok_or_else(|| not_found_failure(name)),
    }
}

pub(in crate::commands) fn archived_failure(name: &TenantName) -> CommandFailure {
    CommandFailure::refused(format!("tenant {name} is archived permanently"))
        .hint("add a new tenant under another name")
}

pub(in crate::commands) fn not_found_failure(name: &TenantName) -> CommandFailure {
    CommandFailure::not_found(format!("there is no tenant called {name}"))
        .hint("`munshi tenant list` shows them all")
}
