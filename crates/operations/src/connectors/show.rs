//! One connector and its health.

use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ConnectorView;
use crate::connector_errors::convert_connector_error;
use crate::{HouseCall, HouseServices};

/// The connector that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectorInput {
    /// Its name.
    #[schema(value_type = String)]
    pub name: ConnectorName,
}

pub struct ShowConnector;

impl Operation<HouseServices> for ShowConnector {
    type Input = ConnectorInput;
    type View = ConnectorView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "show",
        about: "Show a connector and how it is on every node.",
        needs: CallerClass::Member(Area::Connectors, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/connectors/{name}",
    };

    async fn run(call: &HouseCall, input: ConnectorInput) -> Result<ConnectorView, OperationError> {
        let (now, caller) = (call.now, call.caller.clone());
        call.read(move |tx| {
            let (_, mut declared) = rows::load_entries(tx).map_err(convert_connector_error)?;
            let entry = declared.0.remove(&input.name).ok_or_else(|| not_found(&input.name))?;
            let states = rows::list_states(tx, now).map_err(convert_connector_error)?;
            ConnectorView::load(tx, input.name, &entry, &states, &caller)
        })
        .await
    }
}

pub(super) fn not_found(name: &ConnectorName) -> OperationError {
    OperationError::not_found("connector", name.as_str()).hint("`munshi connector list` shows them all.")
}
