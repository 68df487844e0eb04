//! One connection to a connector: what speaks the protocol, and the child that answers, where there is one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use munshi_mcp::{McpClient, McpError};
use tokio::sync::Mutex;

use super::child::ChildProcess;
use crate::error::{Error, Result};
use crate::manifest::{ConnectorManifest, MOST_TOOLS};

/// A connection, ready to be called.
pub(crate) struct ConnectorSession {
    pub(crate) client: McpClient,
    child: Mutex<Option<ChildProcess>>,
}

impl fmt::Debug for ConnectorSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnectorSession")
    }
}

/// A connection with what it said first.
pub(crate) struct ConnectorConnection {
    pub session: Arc<ConnectorSession>,
    pub manifest: ConnectorManifest,
    pub took: Duration,
}

impl ConnectorSession {
    /// Asks for the tools. Whoever calls it sets the time it has.
    pub(super) async fn open(
        client: McpClient,
        child: Option<ChildProcess>,
    ) -> Result<(Arc<Self>, ConnectorManifest)> {
        let session = Arc::new(Self { client, child: Mutex::new(child) });
        let manifest = session.fetch_manifest().await?;
        Ok((session, manifest))
    }

    /// Everything it can do.
    pub(crate) async fn fetch_manifest(&self) -> Result<ConnectorManifest> {
        let tools = self.client.list_tools(MOST_TOOLS).await?;
        let server = self.client.find_server_name();
        let (name, version) =
            server.as_ref().map_or(("", ""), |server| (server.name.as_str(), server.version.as_str()));
        Ok(ConnectorManifest::new(name, version, tools))
    }

    /// Ends it: the line is closed, and a child with all it started has this long to go.
    pub(crate) async fn close(&self, grace: Duration) {
        self.client.close().await;
        if let Some(child) = self.child.lock().await.take() {
            child.stop(grace).await;
        }
    }
}

impl From<McpError> for Error {
    fn from(error: McpError) -> Self {
        match error {
            McpError::WantsLogin => Self::WantsLogin(
                "login required: run `munshi connector login`, or set a token as vault:NAME".to_owned(),
            ),
            McpError::Unreachable(words) => Self::Unreachable(words),
            McpError::Invalid(words) => Self::Invalid(words),
        }
    }
}
