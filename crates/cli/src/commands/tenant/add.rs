//! `munshi tenant add NAME`

use clap::Args;
use munshi_safety::audit::AuditEvent;
use munshi_store::PlatformTx;
use munshi_store::tenants::{self, TENANTS};
use munshi_types::{IdGenerator, Tenant, TenantName, TenantStatus, Zone};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};

use super::audit_context::TenantAuditContext;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct TenantAddArguments {
    /// 1 to 63 lowercase letters, digits and hyphens, such as sharma-kirana
    name: TenantName,
    /// Time zone for days and schedules
    #[arg(long, default_value_t)]
    zone: Zone,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: TenantAddArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let tenant = Tenant {
        id: IdGenerator::system().next(),
        name: arguments.name,
        zone: arguments.zone,
        status: TenantStatus::Active,
        created_at: context.now(),
    };
    let added = tenant.clone();
    let outcome = context.block_on(async {
        let db = database.open().await?;
        let telling = TenantAuditContext::from_operator(context, &arguments.operator, &db, tenant.id).await?;
        let unit = move |tx: &mut PlatformTx<'_>| {
            tenants::add(tx, &added)?;
            telling.record(tx, &added, AuditEvent::TENANT_ADDED)
        };
        Ok(db.platform(TENANTS).write(unit).await)
    })?;
    match outcome {
        Ok(()) => context.output.print_result(&tenant, |tenant, _| {
            format!("Added {}, in {}. Its id is {}.", tenant.name, tenant.zone, tenant.id)
        }),
        Err(munshi_safety::Error::Store(munshi_store::Error::Conflict { .. })) => {
            Err(taken_failure(&tenant.name))
        }
        Err(error) => Err(error.into()),
    }
}

fn taken_failure(name: &TenantName) -> CommandFailure {
    CommandFailure::already_there(format!("tenant {name} already exists"))
        .hint("choose another name; an archived tenant keeps its name")
}
