//! A connector as it is shown: what is declared, and how it is on every node.

use munshi_connectors::entries::{ConnectorEntry, ConnectorTransport};
use munshi_connectors::login::find_login_time;
use munshi_connectors::{ConnectorState, ConnectorStatus, ServiceDocumentSource};
use munshi_identity::Role;
use munshi_pack::operation::{OperationCaller, OperationError};
use munshi_store::Tx;
use munshi_types::{ConnectorName, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::connector_errors::convert_connector_error;

/// A connector and its health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Connector)]
pub struct ConnectorView {
    #[schema(value_type = String)]
    pub name: ConnectorName,
    /// Its command or address; empty for whoever may not change it.
    pub reached: String,
    /// When somebody last logged in at its service, or the login was renewed; null where nobody is logged in.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub logged_in_at: Option<Timestamp>,
    /// On each node that runs it; empty where none does.
    pub nodes: Vec<ConnectorNodeView>,
}

/// How a connector is on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ConnectorHealth)]
pub struct ConnectorNodeView {
    /// `starting`, `ready`, `restarting`, `wants_login`, `degraded` or `stopped`.
    #[schema(value_type = String)]
    pub state: ConnectorState,
    /// Why, where it is not ready; empty for whoever may not change it.
    pub why: String,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Since the node's process began.
    pub restarts: u32,
    pub tools: usize,
    /// Tools that nobody has declared: they only read, or are refused.
    pub undeclared: usize,
    pub left_out: Vec<SkippedToolView>,
    pub server: String,
    pub version: String,
    /// The hash of its list of tools.
    pub manifest: String,
    /// Its tools changed and nobody has looked: they only read until somebody has.
    pub held: bool,
    /// Whether its program is confined; null where it is no program of the node.
    pub confined: Option<bool>,
    /// Whether sockets that were not granted are closed to it; null where it is no program of the node.
    pub closes_sockets: Option<bool>,
}

/// A tool that is not offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = SkippedTool)]
pub struct SkippedToolView {
    pub tool: String,
    pub why: String,
}

impl ConnectorView {
    pub(super) fn load(
        tx: &mut Tx<'_>,
        name: ConnectorName,
        entry: &ConnectorEntry,
        states: &[(String, ConnectorStatus)],
        caller: &OperationCaller,
    ) -> Result<Self, OperationError> {
        let logged_in_at = find_login_time(tx, name.as_str()).map_err(convert_connector_error)?;
        // A command line and an error may tell of the machine.
        let is_detailed = caller.is_keeper() || caller.role().is_some_and(|role| role <= Role::Admin);
        let nodes = states.iter().filter(|(of, _)| of == name.as_str());
        Ok(Self {
            nodes: nodes.map(|(_, status)| ConnectorNodeView::new(status, is_detailed)).collect(),
            reached: if is_detailed { describe_transport(entry) } else { String::new() },
            logged_in_at,
            name,
        })
    }
}

impl ConnectorNodeView {
    fn new(status: &ConnectorStatus, is_detailed: bool) -> Self {
        let left_out = status.left_out.iter();
        Self {
            state: status.state,
            why: if is_detailed { status.why.clone() } else { String::new() },
            since: status.since,
            restarts: status.restarts,
            tools: status.tools,
            undeclared: status.undeclared,
            left_out: left_out
                .map(|left| SkippedToolView { tool: left.tool.clone(), why: left.why.clone() })
                .collect(),
            server: status.server.clone(),
            version: status.version.clone(),
            manifest: status.manifest.clone(),
            held: status.held,
            confined: status.confined,
            closes_sockets: status.closes_sockets,
        }
    }
}

fn describe_transport(entry: &ConnectorEntry) -> String {
    match entry.resolve_transport() {
        Ok(ConnectorTransport::Child) => entry.command.join(" "),
        Ok(ConnectorTransport::Http(url)) => url.to_string(),
        Ok(ConnectorTransport::OpenApi(ServiceDocumentSource::Text(text), _)) => {
            format!("openapi: a document of {} bytes", text.len())
        }
        Ok(ConnectorTransport::OpenApi(..)) => {
            format!("openapi: {}", entry.openapi.as_deref().unwrap_or_default())
        }
        Ok(ConnectorTransport::Inside(name)) => format!("inside: {name}"),
        Err(what) => what,
    }
}
