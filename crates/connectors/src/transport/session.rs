//! One connection that speaks the protocol.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    PaginatedRequestParams, PingRequest, ProtocolVersion, RequestMetaObject, Tool,
};
use rmcp::service::{ClientInitializeError, NotificationContext, RunningService};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::{AuthRequiredError, StreamableHttpError};
use rmcp::{ClientHandler, ClientLifecycleMode, RoleClient, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, Notify, watch};
use tokio::time::timeout;

use super::any_transport::AnyTransport;
use super::child::ChildProcess;
use super::error_text;
use crate::error::{Error, Result};
use crate::manifest::{ConnectorManifest, MOST_TOOLS};

/// Where a server finds the act's key, beside the argument that takes it.
const KEY: &str = "munshi/key";
/// A list that goes on and on is no list.
const MOST_PAGES: usize = 200;
const CLOSING: Duration = Duration::from_secs(2);

/// A connection, ready to be called.
pub(crate) struct ConnectorSession {
    service: Mutex<Option<RunningService<RoleClient, McpClientHandler>>>,
    peer: rmcp::Peer<RoleClient>,
    /// Set when the server says that its list of tools changed.
    pub changed: Arc<Notify>,
    /// Counts messages that were too long to be read.
    too_long: watch::Receiver<u64>,
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

/// Answers what servers ask of us: nothing. It hears that a list of tools changed.
pub(crate) struct McpClientHandler {
    changed: Arc<Notify>,
}

impl ClientHandler for McpClientHandler {
    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let identity = Implementation::new("munshi", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), identity)
    }
}

/// How hands are shaken. A server of an older revision may break over the newer way, so the two take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeMode {
    /// As the newest revision does it, with the older way where the server knows no other.
    Newest,
    Older,
}

/// What a session is made of beside its transport.
pub(crate) struct ConnectorSessionParts {
    pub too_long: watch::Receiver<u64>,
    pub child: Option<ChildProcess>,
}

impl ConnectorSession {
    /// Shakes hands and asks for the tools. Whoever calls it sets the time it has.
    pub(super) async fn open(
        transport: AnyTransport,
        around: ConnectorSessionParts,
        greeting: HandshakeMode,
    ) -> Result<(Arc<Self>, ConnectorManifest)> {
        let changed = Arc::new(Notify::new());
        let ConnectorSessionParts { too_long, child } = around;
        let handler = McpClientHandler { changed: changed.clone() };
        let lifecycle = match greeting {
            HandshakeMode::Newest => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::LATEST],
                legacy_version: None,
            },
            HandshakeMode::Older => ClientLifecycleMode::Initialize,
        };
        let service = rmcp::serve_client_with_lifecycle(handler, transport, lifecycle)
            .await
            .map_err(|error| handshake_error(&error))?;
        let peer = service.peer().clone();
        let service = Mutex::new(Some(service));
        let session = Arc::new(Self { service, peer, changed, too_long, child: Mutex::new(child) });
        let manifest = session.fetch_manifest().await?;
        Ok((session, manifest))
    }

    /// Everything it can do, page by page.
    pub(crate) async fn fetch_manifest(&self) -> Result<ConnectorManifest> {
        let (mut tools, mut cursor): (Vec<Tool>, Option<String>) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor.take());
            let listed = self.peer.list_tools(Some(page)).await.map_err(|error| listing_error(&error))?;
            tools.extend(listed.tools);
            cursor = listed.next_cursor;
            if cursor.is_none() || tools.len() > MOST_TOOLS {
                break;
            }
        }
        if cursor.is_some() && tools.len() <= MOST_TOOLS {
            return Err(Error::Invalid(format!("the list of tools has more than {MOST_PAGES} pages")));
        }
        if tools.len() > MOST_TOOLS {
            return Err(Error::Invalid(format!("more than {MOST_TOOLS} tools are listed")));
        }
        let info = self.peer.peer_info();
        let server = info.as_ref().and_then(|info| info.server_info.as_ref());
        let (name, version) =
            server.map_or(("", ""), |server| (server.name.as_str(), server.version.as_str()));
        Ok(ConnectorManifest::new(name, version, tools))
    }

    /// Calls a tool. Dropping it tells the server that nobody waits any more.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        key: Option<String>,
    ) -> Result<CallToolResult, ConnectorCallError> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        if let Some(key) = key {
            let mut meta = RequestMetaObject::new();
            meta.0.insert(KEY.to_owned(), Value::String(key));
            params.meta = Some(meta);
        }
        let mut too_long = self.too_long.clone();
        too_long.mark_unchanged();
        tokio::select! {
            answer = self.peer.call_tool(params) => answer.map_err(ConnectorCallError::from_service_error),
            Ok(()) = too_long.changed() => Err(ConnectorCallError::TooLong),
        }
    }

    /// Whether it still answers, with whatever.
    pub(crate) async fn is_alive(&self, within: Duration) -> bool {
        let ping = self.peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
        match timeout(within, ping).await {
            Ok(Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse)) => true,
            Ok(Err(_)) | Err(_) => false,
        }
    }

    /// Once the other side is gone.
    pub(crate) async fn wait_closed(&self) {
        while !self.peer.is_transport_closed() {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    /// Ends it: the line is closed, and a child with all it started has this long to go.
    pub(crate) async fn close(&self, grace: Duration) {
        if let Some(mut service) = self.service.lock().await.take() {
            let _ = service.close_with_timeout(CLOSING).await;
        }
        if let Some(child) = self.child.lock().await.take() {
            child.stop(grace).await;
        }
    }
}

/// Why a call came to nothing.
#[derive(Debug)]
pub(crate) enum ConnectorCallError {
    /// The server's own no, in its words.
    Refused { code: i32, words: String },
    /// The line broke: it may have happened.
    Lost(String),
    /// It answered with more than is read.
    TooLong,
    /// It lets nobody in without a login: it was not done.
    NotIn,
    /// What lets us in can't be had just now: it was not done.
    NotSent(String),
}

/// Why nothing was sent, or what was sent was turned away: what lets us in could not be had.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct ConnectorCredentialError(pub(super) String);

impl fmt::Display for ConnectorCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { words, .. } => write!(f, "call refused: {words}"),
            Self::Lost(words) | Self::NotSent(words) => f.write_str(words),
            Self::TooLong => f.write_str("the response is too large"),
            Self::NotIn => f.write_str("login required"),
        }
    }
}

impl ConnectorCallError {
    fn from_service_error(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => {
                Self::Refused { code: error.code.0, words: error.message.to_string() }
            }
            ServiceError::TransportSend(error) if needs_login(&error) => Self::NotIn,
            ServiceError::TransportSend(error) if let Some(why) = find_credential_error(&error) => {
                Self::NotSent(why)
            }
            other => Self::Lost(error_text::render_call_error(&other)),
        }
    }
}

type Http = StreamableHttpError<std::io::Error>;

/// An error and what lies below it, also where it does not say so itself: what our client said, and what that was made of.
fn causes(error: &DynamicTransportError) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    let first = error.error.as_ref() as &(dyn std::error::Error + 'static);
    std::iter::successors(Some(first), |current| {
        if let Some(StreamableHttpError::Client(error)) = current.downcast_ref::<Http>() {
            return Some(error as &(dyn std::error::Error + 'static));
        }
        let made_of = current.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        made_of.map(|inner| inner as &(dyn std::error::Error + 'static)).or_else(|| current.source())
    })
}

/// Whether the other side wants a login.
fn needs_login(error: &DynamicTransportError) -> bool {
    causes(error).any(<dyn std::error::Error>::is::<AuthRequiredError>)
}

/// Why nothing was sent, where it is known that nothing was.
fn find_credential_error(error: &DynamicTransportError) -> Option<String> {
    causes(error).find_map(|cause| Some(cause.downcast_ref::<ConnectorCredentialError>()?.to_string()))
}

fn handshake_error(error: &ClientInitializeError) -> Error {
    match error.is_authorization_required() {
        true => login_needed_error(),
        false => {
            Error::Unreachable(format!("handshake failed: {}", error_text::render_handshake_error(error)))
        }
    }
}

fn login_needed_error() -> Error {
    Error::WantsLogin("login required: run `munshi connector login`, or set a token as vault:NAME".to_owned())
}

fn listing_error(error: &ServiceError) -> Error {
    if matches!(error, ServiceError::TransportSend(error) if needs_login(error)) {
        return login_needed_error();
    }
    Error::Unreachable(format!("listing tools failed: {}", error_text::render_call_error(error)))
}
