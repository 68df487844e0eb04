//! What a change leaves behind at a connector's service: a login that is forgotten here is revoked there.

use munshi_connectors::login::RevocableLogin;
use munshi_connectors::{ConnectorLogins, run_to_end};
use munshi_pack::operation::OperationError;
use munshi_store::AdminTx;
use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::continue_call;
use crate::HouseCall;
use crate::connector_errors::convert_connector_error;

/// Somebody takes a login away: written with the change that forgets it.
pub(crate) const LOGOUT_REQUESTED: &str = "connector.logout_requested";
/// What its service said to that.
pub(crate) const LOGGED_OUT: &str = "connector.logged_out";

/// What became of a login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RevokedLogin)]
pub struct RevokedLoginView {
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    /// `revoked`, or `forgotten` where it may still be good at the service.
    pub login: String,
}

/// What its service said.
pub(super) struct LogoutOutcome {
    /// `revoked` or `forgotten`.
    pub(super) login: String,
    /// The same in words, with what is left to do.
    pub(super) note: String,
}

/// A login that is about to be forgotten. What is stored opens the service, so it is read before and revoked after.
pub(super) struct PendingLogout {
    logins: ConnectorLogins,
    connector: ConnectorName,
    login: RevocableLogin,
}

impl PendingLogout {
    /// None where nobody has logged in.
    pub(super) async fn find(
        call: &HouseCall,
        connector: &ConnectorName,
    ) -> Result<Option<Self>, OperationError> {
        let logins = call.services.parts.build_logins().await?;
        let found = logins.find_revocable(call.tenant.id, connector).await;
        let found = found.map_err(convert_connector_error)?;
        Ok(found.map(|login| Self { logins, connector: connector.clone(), login }))
    }

    /// Revokes it at its service and tells the audit what came of it, also where whoever asked has gone meanwhile.
    pub(super) async fn finish(self, call: &HouseCall) -> Result<LogoutOutcome, OperationError> {
        let Self { logins, connector, login } = self;
        let rest = continue_call(call);
        let work = async move {
            let given = logins.revoke_login(&login).await;
            let outcome =
                LogoutOutcome { login: given.as_str().to_owned(), note: given.describe(&connector) };
            let (subject, payload) = (connector.to_string(), json!({ "login": outcome.login }));
            let told = rest.write(move |tx| {
                tx.note(LOGGED_OUT, subject, payload);
                Ok(())
            });
            told.await.map(|()| outcome)
        };
        run_to_end(work).await.map_err(convert_connector_error)?
    }
}

pub(super) fn note_logout_request(tx: &mut AdminTx<'_, '_>, connector: &ConnectorName) {
    tx.note(LOGOUT_REQUESTED, connector.as_str(), json!({}));
}
