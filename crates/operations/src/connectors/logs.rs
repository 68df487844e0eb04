//! What a connector said on its own node.

use munshi_connectors::{build_logs_path, read_last_lines, rows};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::show::not_found;
use crate::connector_errors::convert_connector_error;
use crate::{HouseCall, HouseServices};

const DEFAULT_LINES: u32 = 100;
const MOST_LINES: u32 = 100_000;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectorLogInput {
    /// The connector's name; a removed one keeps its log.
    #[schema(value_type = String)]
    pub name: ConnectorName,
    /// Number of lines, from the end. Default: 100.
    #[schema(minimum = 1, maximum = 100_000)]
    pub lines: Option<u32>,
}

/// The last lines of a connector's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ConnectorLog)]
pub struct ConnectorLogView {
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    /// The oldest first; what it said on the node that answers.
    pub lines: Vec<String>,
}

pub struct ShowConnectorLog;

impl Operation<HouseServices> for ShowConnectorLog {
    type Input = ConnectorLogInput;
    type View = ConnectorLogView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "logs",
        about: "Show a connector's log: what it said on standard error, on the node that answers.",
        // A program's own words tell of the machine it runs on.
        needs: CallerClass::KeeperOfTenant,
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/connectors/{name}/logs",
    };

    async fn run(call: &HouseCall, input: ConnectorLogInput) -> Result<ConnectorLogView, OperationError> {
        let ConnectorLogInput { name, lines } = input;
        let most = lines.unwrap_or(DEFAULT_LINES);
        if !(1..=MOST_LINES).contains(&most) {
            return Err(OperationError::field("lines", &format!("use 1 to {MOST_LINES}")));
        }
        let folder = build_logs_path(&call.services.parts.connectors_folder(), call.tenant.id, &name);
        let lines = read_last_lines(&folder, usize::try_from(most).unwrap_or(usize::MAX)).await;
        let lines = lines.map_err(convert_connector_error)?;
        let declared = call.read(|tx| rows::load_entries(tx).map_err(convert_connector_error));
        // What one that was taken away has said stays.
        if lines.is_empty() && !declared.await?.1.0.contains_key(&name) {
            return Err(not_found(&name));
        }
        Ok(ConnectorLogView { connector: name, lines })
    }
}
