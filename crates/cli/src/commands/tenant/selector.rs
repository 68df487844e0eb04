//! Whose, where a command is about one tenant.

use clap::Args;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, PlatformTx};
use munshi_types::{Tenant, TenantName, TenantStatus};
use munshi_wiring::failure::{CommandFailure, Result};

use super::{archived_failure, not_found_failure};

/// So many tenants are looked through for the only one.
const MOST: u32 = 100;

#[derive(Debug, Args)]
pub(crate) struct TenantSelectorArguments {
    /// Tenant. Default: the only one
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
}

impl TenantSelectorArguments {
    /// The one that was named otherwise; without a name the only one.
    pub(crate) fn named(tenant: impl Into<Option<TenantName>>) -> Self {
        Self { tenant: tenant.into() }
    }

    /// The name that was given.
    pub(crate) fn name(&self) -> Option<&TenantName> {
        self.tenant.as_ref()
    }

    /// The tenant, whatever its status: looking is always allowed.
    pub(crate) async fn find(&self, db: &Db) -> Result<Tenant> {
        match &self.tenant {
            Some(name) => get_by_name(db, name).await,
            None => get_only_tenant(db).await,
        }
    }

    /// The tenant, as long as something may still change about it.
    pub(in crate::commands) async fn find_open(&self, db: &Db) -> Result<Tenant> {
        let tenant = self.find(db).await?;
        if tenant.status == TenantStatus::Archived { Err(archived_failure(&tenant.name)) } else { Ok(tenant) }
    }
}

pub(in crate::commands) async fn get_by_name(db: &Db, name: &TenantName) -> Result<Tenant> {
    let asked = name.clone();
    let found = db.platform(TENANTS).read(move |tx| tenants::find_by_name(tx, &asked)).await?;
    found.ok_or_else(|| not_found_failure(name))
}

async fn get_only_tenant(db: &Db) -> Result<Tenant> {
    let read = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, MOST));
    let page = db.platform(TENANTS).read(read).await?;
    let more = page.next.is_some();
    let mut open = page.items.into_iter().filter(|tenant| tenant.status != TenantStatus::Archived);
    match (open.next(), open.next(), more) {
        (Some(tenant), None, false) => Ok(tenant),
        (None, _, false) => {
            Err(CommandFailure::not_found("there is no tenant yet")
                .hint("add one with `munshi tenant add NAME`"))
        }
        _ => Err(CommandFailure::usage("there are several tenants").hint("choose one with --tenant NAME")),
    }
}
