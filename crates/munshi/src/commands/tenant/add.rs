//! `munshi tenant add NAME`

use clap::Args;
use munshi_safety::audit::Event;
use munshi_store::PlatformTx;
use munshi_store::tenants::{self, TENANTS};
use munshi_types::{Ids, Tenant, TenantName, TenantStatus, Zone};

use super::telling::Telling;
use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::wiring::database::Database;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// 1 to 63 small letters, digits and hyphens, such as sharma-kirana
    name: TenantName,
    /// Its time zone: days begin and schedules fire by it
    #[arg(long, default_value_t)]
    zone: Zone,
    #[command(flatten)]
    operator: Operator,
}

pub(super) fn run(context: &Context, arguments: Arguments) -> Result<()> {
    let database = Database::for_one_question(&context.config()?)?;
    let tenant = Tenant {
        id: Ids::system().next(),
        name: arguments.name,
        zone: arguments.zone,
        status: TenantStatus::Active,
        created_at: context.now(),
    };
    let added = tenant.clone();
    let outcome = context.block_on(async {
        let db = database.open().await?;
        let telling = Telling::of(context, &arguments.operator, &db, tenant.id).await?;
        let unit = move |tx: &mut PlatformTx<'_>| {
            tenants::add(tx, &added)?;
            telling.tell(tx, &added, Event::TENANT_ADDED)
        };
        Ok(db.platform(TENANTS).write(unit).await)
    })?;
    match outcome {
        Ok(()) => context.output.answer(&tenant, |tenant, _| {
            format!("Added {}, in {}. Its id is {}.", tenant.name, tenant.zone, tenant.id)
        }),
        Err(munshi_safety::Error::Store(munshi_store::Error::Conflict { .. })) => Err(taken(&tenant.name)),
        Err(error) => Err(error.into()),
    }
}

fn taken(name: &TenantName) -> Failure {
    Failure::already_there(format!("there is already a tenant called {name}"))
        .hint("choose another name; one that was archived keeps its own")
}
