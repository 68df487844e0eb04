//! Whose, where a command is about one tenant.

use clap::Args;
use munshi_operations::tenants::find_selected;
use munshi_pack::operation::OperationError;
use munshi_store::tenants::TENANTS;
use munshi_store::{Db, PlatformTx};
use munshi_types::{Tenant, TenantName, TenantStatus};
use munshi_wiring::failure::Result;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TenantSelectorArguments {
    /// Tenant. Default: the only one
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
}

impl TenantSelectorArguments {
    pub(crate) const fn none() -> Self {
        Self { tenant: None }
    }

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
        let name = self.tenant.clone();
        Ok(db.platform(TENANTS).read(move |tx| find_selected(tx, name.as_ref())).await?)
    }

    /// The tenant, as long as something may still change about it.
    pub(in crate::commands) async fn find_open(&self, db: &Db) -> Result<Tenant> {
        let tenant = self.find(db).await?;
        match tenant.status {
            TenantStatus::Archived => Err(OperationError::archived(&tenant.name).into()),
            TenantStatus::Active | TenantStatus::Paused => Ok(tenant),
        }
    }
}

pub(in crate::commands) async fn get_by_name(db: &Db, name: &TenantName) -> Result<Tenant> {
    let name = name.clone();
    let read = move |tx: &mut PlatformTx<'_>| find_selected(tx, Some(&name));
    Ok(db.platform(TENANTS).read(read).await?)
}
