//! Makes a link that lets somebody log in to a connector's service.

use munshi_connectors::login::{LINK_LIFE, add_link};
use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::{ConnectorName, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::ConnectorInput;
use super::show::not_found;
use crate::connector_errors::convert_connector_error;
use crate::{HouseCall, HouseServices};

/// A link to follow. It opens nothing by itself: whoever follows it signs in as an owner or admin of the tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ConnectorLoginLink)]
pub struct ConnectorLoginLinkView {
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    /// Where to go.
    pub open: String,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    /// It is good for one login until then.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

pub struct LoginConnector;

impl Operation<HouseServices> for LoginConnector {
    type Input = ConnectorInput;
    type View = ConnectorLoginLinkView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "login",
        about: "Make a link by which an owner or admin logs in to a connector's service. It is shown once.",
        needs: CallerClass::Member(Area::Connectors, ApiAccess::Write),
        effect: OperationEffect::Write(&["connector.login_requested"]),
        method: RouteMethod::Post,
        path: "/v1/connectors/{name}/login",
    };

    const KEEPS_VIEW: bool = false;

    async fn run(call: &HouseCall, input: ConnectorInput) -> Result<ConnectorLoginLinkView, OperationError> {
        let name = input.name;
        let (base, random) = (call.services.parts.base_url(), call.random.clone());
        let (asked, by, now) = (name.clone(), call.caller.actor().clone(), call.now);
        let expires_at = now.plus(LINK_LIFE);
        let made = call.write(move |tx| {
            let (_, declared) = rows::load_entries(tx).map_err(convert_connector_error)?;
            if !declared.0.contains_key(&asked) {
                return Err(not_found(&asked));
            }
            let link = add_link(tx, asked.as_str(), &base, (by, None), (random.as_ref(), now));
            let link = link.map_err(convert_connector_error)?;
            tx.note("connector.login_requested", asked.as_str(), json!({ "expires_at": expires_at }));
            Ok(link)
        });
        Ok(ConnectorLoginLinkView { connector: name, open: made.await?, made_at: now, expires_at })
    }
}
