//! Removes a connector, and the login that let us into its service.

use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::pending_logout::{LOGGED_OUT, LOGOUT_REQUESTED, PendingLogout, note_logout_request};
use super::show::not_found;
use super::{ConnectorInput, refuse_program};
use crate::connector_errors::convert_connector_error;
use crate::{HouseCall, HouseServices};

/// A connector that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RemovedConnector)]
pub struct RemovedConnectorView {
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    /// Of the tenant's list of connectors, without it.
    pub version: i64,
    /// What became of its login: `revoked`, or `forgotten` where it may still be good at the service; null where it had
    /// none.
    pub login: Option<String>,
    /// The same in words, with what is left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login_note: Option<String>,
}

pub struct RemoveConnector;

impl Operation<HouseServices> for RemoveConnector {
    type Input = ConnectorInput;
    type View = RemovedConnectorView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "remove",
        about: "Remove a connector. Its login is forgotten, and revoked at its service.",
        needs: CallerClass::Member(Area::Connectors, ApiAccess::Write),
        effect: OperationEffect::Write(&["connectors.changed", LOGOUT_REQUESTED, LOGGED_OUT]),
        method: RouteMethod::Post,
        path: "/v1/connectors/{name}/remove",
    };

    async fn run(call: &HouseCall, input: ConnectorInput) -> Result<RemovedConnectorView, OperationError> {
        refuse_program(&call.caller)?;
        let name = input.name;
        let login = PendingLogout::find(call, &name).await?;
        let (gone, has_login) = (name.clone(), login.is_some());
        let (by, now) = (call.caller.actor().id.clone(), call.now);
        let removed = call.write(move |tx| {
            let (_, mut declared) = rows::load_entries(tx).map_err(convert_connector_error)?;
            if declared.0.remove(&gone).is_none() {
                return Err(not_found(&gone));
            }
            let version = super::save_entries(tx, &declared, &by, &format!("remove {gone}"), now)?;
            if has_login {
                note_logout_request(tx, &gone);
            }
            Ok(version)
        });
        let version = removed.await?;
        // Forgotten here first: whatever the service says, nobody uses it any more.
        let ended = match login {
            Some(login) => Some(login.finish(call).await?),
            None => None,
        };
        let (login, login_note) = ended.map(|ended| (ended.login, ended.note)).unzip();
        Ok(RemovedConnectorView { connector: name, version, login, login_note })
    }
}
