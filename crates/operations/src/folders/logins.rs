//! Logins at connectors that a folder takes away: forgotten here with the change, and revoked at their services after it.

use munshi_connectors::login::RevocableLogin;
use munshi_connectors::{ConnectorLogins, rows, run_to_end};
use munshi_pack::operation::OperationError;
use munshi_store::PlatformAdminTx;
use munshi_store::tenants::{self, TENANTS};
use munshi_tiers::ApplyPlan;
use munshi_types::{ConnectorName, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::rules::{CONNECTORS, parse_entries};
use crate::HouseCall;
use crate::connector_errors::convert_connector_error;
use crate::connectors::{LOGGED_OUT, LOGOUT_REQUESTED, continue_call};

/// What became of a login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RevokedFolderLogin)]
pub struct RevokedFolderLoginView {
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    /// `revoked`, or `forgotten` where it may still be good at the service.
    pub login: String,
    /// The same in words, with what is left to do.
    pub note: String,
}

/// Logins that are about to be forgotten. What is stored opens the services, so it is read before and revoked after.
pub(super) struct PendingLogouts(Option<(ConnectorLogins, Vec<PendingFolderLogout>)>);

struct PendingFolderLogout {
    tenant: TenantId,
    connector: ConnectorName,
    login: RevocableLogin,
}

/// Whose logins are taken away.
pub(super) struct LogoutNames(Vec<(TenantId, ConnectorName)>);

impl LogoutNames {
    /// Tells each tenant's chain, before anything is asked of a service.
    pub(super) fn note(&self, tx: &mut PlatformAdminTx<'_, '_>) {
        for (tenant, connector) in &self.0 {
            tx.note([*tenant], LOGOUT_REQUESTED, connector.as_str(), json!({}));
        }
    }
}

impl PendingLogouts {
    /// Those of connectors that the plans remove or lead elsewhere.
    pub(super) async fn find(call: &HouseCall, plans: &[ApplyPlan]) -> Result<Self, OperationError> {
        let names = list_stale(call, plans).await?;
        if names.is_empty() {
            return Ok(Self(None));
        }
        let logins = call.services.parts.build_logins().await?;
        let mut pending = Vec::new();
        for (tenant, connector) in names {
            let found = logins.find_revocable(tenant, &connector).await.map_err(convert_connector_error)?;
            pending.extend(found.map(|login| PendingFolderLogout { tenant, connector, login }));
        }
        Ok(Self(Some((logins, pending))))
    }

    pub(super) fn names(&self) -> LogoutNames {
        let pending = self.0.iter().flat_map(|(_, pending)| pending);
        LogoutNames(pending.map(|one| (one.tenant, one.connector.clone())).collect())
    }

    /// Revokes them at their services and tells the audit what came of it, also where whoever asked has gone meanwhile.
    pub(super) async fn finish(
        self,
        call: &HouseCall,
    ) -> Result<Vec<RevokedFolderLoginView>, OperationError> {
        let Some((logins, pending)) = self.0.filter(|(_, pending)| !pending.is_empty()) else {
            return Ok(Vec::new());
        };
        let rest = continue_call(call);
        let work = async move {
            let (mut ended, mut untold) = (Vec::new(), None);
            for PendingFolderLogout { tenant, connector, login } in pending {
                let given = logins.revoke_login(&login).await;
                let view = RevokedFolderLoginView {
                    login: given.as_str().to_owned(),
                    note: given.describe(&connector),
                    connector,
                };
                let (subject, payload) = (view.connector.to_string(), json!({ "login": view.login }));
                let told = rest.write_platform(TENANTS, move |tx| {
                    tx.note([tenant], LOGGED_OUT, subject, payload);
                    Ok(())
                });
                // The others are revoked all the same.
                if let Err(error) = told.await {
                    untold = untold.or(Some(error));
                }
                ended.push(view);
            }
            untold.map_or(Ok(ended), Err)
        };
        run_to_end(work).await.map_err(convert_connector_error)?
    }
}

async fn list_stale(
    call: &HouseCall,
    plans: &[ApplyPlan],
) -> Result<Vec<(TenantId, ConnectorName)>, OperationError> {
    let mut names = Vec::new();
    for plan in plans.iter().filter(|plan| !plan.is_new) {
        let Some(file) = plan.files.iter().find(|file| file.what == CONNECTORS) else { continue };
        let next = parse_entries(file)?;
        let name = plan.tenant.clone();
        let found = call.read_platform(TENANTS, move |tx| Ok(tenants::find_by_name(tx, &name)?)).await?;
        let Some(tenant) = found else { continue };
        let declared = call.db.read(tenant.id, rows::load_entries).await.map_err(convert_connector_error)?.1;
        names.extend(declared.list_stale_logins(&next).into_iter().map(|name| (tenant.id, name)));
    }
    Ok(names)
}
