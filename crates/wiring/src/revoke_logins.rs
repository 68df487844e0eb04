//! Logins at connectors that are taken away: forgotten here with the connector, and given back at their services.

use std::sync::Arc;

use munshi_config::Config;
use munshi_connectors::login::RevocableLogin;
use munshi_connectors::{ConnectorLogins, rows};
use munshi_store::{Db, PlatformTx, tenants};
use munshi_tiers::ApplyPlan;
use munshi_types::{Clock, ConnectorName, TenantId};
use serde::Serialize;

use crate::connectors::{self, CONNECTORS};
use crate::failure::Result;

/// What became of one login.
#[derive(Debug, Serialize)]
pub struct LoginRevocationReport {
    pub connector: ConnectorName,
    pub login: &'static str,
    #[serde(skip)]
    pub words: String,
}

/// Logins that are about to be forgotten. What is kept here opens the door, so it is read before and given back after.
pub struct LoginRevocationPlan(Option<(ConnectorLogins, Vec<(ConnectorName, RevocableLogin)>)>);

impl LoginRevocationPlan {
    /// Those of these connectors.
    pub async fn load(
        config: &Config,
        db: &Db,
        clock: &Arc<dyn Clock>,
        names: &[(TenantId, ConnectorName)],
    ) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self(None));
        }
        let logins = connectors::build_logins(config, db, clock).await?;
        let mut last = Vec::new();
        for (tenant, name) in names {
            last.extend(logins.find_revocable(*tenant, name).await?.map(|login| (name.clone(), login)));
        }
        Ok(Self(Some((logins, last))))
    }

    /// Tells their services, once nobody uses them any more. Whatever those say, they stay forgotten.
    pub async fn revoke(self) -> Vec<LoginRevocationReport> {
        let Some((logins, last)) = self.0 else { return Vec::new() };
        let mut gone = Vec::new();
        for (connector, last) in last {
            let given = logins.revoke_login(&last).await;
            let (login, words) = (given.as_str(), given.describe(&connector) + "\n");
            gone.push(LoginRevocationReport { connector, login, words });
        }
        gone
    }
}

/// The connectors that plans take away, or elsewhere.
pub async fn list_removed_connectors(db: &Db, plans: &[ApplyPlan]) -> Result<Vec<(TenantId, ConnectorName)>> {
    let mut names = Vec::new();
    for plan in plans.iter().filter(|plan| !plan.is_new) {
        let Some(file) = plan.files.iter().find(|file| file.what == CONNECTORS) else { continue };
        let name = plan.tenant.clone();
        let find = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name);
        let Some(tenant) = db.platform(tenants::TENANTS).read(find).await? else { continue };
        let (_, declared) = db.read(tenant.id, rows::load_entries).await?;
        let next = connectors::parse_entries(file)?;
        names.extend(declared.list_stale_logins(&next).into_iter().map(|name| (tenant.id, name)));
    }
    Ok(names)
}
