//! Takes away the login that lets us into a connector's service.

use munshi_connectors::login::forget_login;
use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::ConnectorInput;
use super::pending_logout::{LOGGED_OUT, LOGOUT_REQUESTED, PendingLogout, note_logout_request};
use super::show::not_found;
use crate::connector_errors::convert_connector_error;
use crate::{HouseCall, HouseServices};

/// A connector whose login is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = LoggedOutConnector)]
pub struct LoggedOutConnectorView {
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    /// Whether there was a login.
    pub logged_out: bool,
    /// What became of it: `revoked`, or `forgotten` where it may still be good at the service.
    pub login: Option<String>,
    /// The same in words, with what is left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login_note: Option<String>,
}

pub struct LogoutConnector;

impl Operation<HouseServices> for LogoutConnector {
    type Input = ConnectorInput;
    type View = LoggedOutConnectorView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "logout",
        about: "Log out of a connector's service: its login is forgotten and revoked there, and links to log in end.",
        needs: CallerClass::Member(Area::Connectors, ApiAccess::Write),
        effect: OperationEffect::Write(&[LOGOUT_REQUESTED, LOGGED_OUT]),
        method: RouteMethod::Post,
        path: "/v1/connectors/{name}/logout",
    };

    async fn run(call: &HouseCall, input: ConnectorInput) -> Result<LoggedOutConnectorView, OperationError> {
        let name = input.name;
        let login = PendingLogout::find(call, &name).await?;
        let (asked, can_revoke) = (name.clone(), login.is_some());
        let forgotten = call.write(move |tx| {
            let (_, declared) = rows::load_entries(tx).map_err(convert_connector_error)?;
            if !declared.0.contains_key(&asked) {
                return Err(not_found(&asked));
            }
            note_logout_request(tx, &asked);
            let was_there = forget_login(tx, asked.as_str()).map_err(convert_connector_error)?;
            if was_there && !can_revoke {
                // Another version wrote what can't be read any more.
                tx.note(LOGGED_OUT, asked.as_str(), json!({ "login": "forgotten" }));
            }
            Ok(was_there)
        });
        let was_there = forgotten.await?;
        let (login, login_note) = match login {
            Some(login) => {
                let ended = login.finish(call).await?;
                (Some(ended.login), Some(ended.note))
            }
            None => (was_there.then(|| "forgotten".to_owned()), None),
        };
        Ok(LoggedOutConnectorView { connector: name, logged_out: login.is_some(), login, login_note })
    }
}
