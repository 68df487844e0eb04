//! One connection to a server, over streams or HTTP.
//!
//! - [`McpClient`]: the connection; [`BearerCredential`]: what is shown at a server's door
//! - `http`, `events`: Streamable HTTP within bounds; `message_length`: noticing answers that are too long
//! - `any_transport`: every transport as one type; `error_text`: what went wrong, in words

mod any_transport;
mod credential;
mod error_text;
mod events;
mod http;
mod message_length;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderName, HeaderValue};
use munshi_http::Client;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    PaginatedRequestParams, PingRequest, ProtocolVersion, RequestMetaObject, Tool,
};
use rmcp::service::{ClientInitializeError, NotificationContext, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::transport::{DynamicTransportError, StreamableHttpClientTransport};
use rmcp::{ClientHandler, ClientLifecycleMode, RoleClient, ServiceError};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex, Notify, watch};
use tokio::time::timeout;

use self::any_transport::AnyTransport;
pub use self::credential::BearerCredential;
use self::http::BoundedHttpClient;
use self::message_length::MessageLengthWatcher;
use crate::{KEY_META, LONGEST_MESSAGE};

/// A list that goes on and on is no list.
const MOST_PAGES: usize = 200;
const CLOSING: Duration = Duration::from_secs(2);

/// A connection, ready to be called.
pub struct McpClient {
    service: Mutex<Option<RunningService<RoleClient, McpClientHandler>>>,
    peer: rmcp::Peer<RoleClient>,
    /// Set when the server says that its list of tools changed.
    pub changed: Arc<Notify>,
    /// Counts messages that were too long to be read.
    too_long: watch::Receiver<u64>,
}

/// A server that is reached over HTTP.
pub struct McpHttpEndpoint {
    pub client: Client,
    pub url: String,
    /// Sent with every request.
    pub headers: HashMap<HeaderName, HeaderValue>,
    /// A token that is given once and for all.
    pub token: Option<String>,
    /// A token that is renewed; it counts before the other.
    pub credential: Option<Arc<dyn BearerCredential>>,
}

/// Why there is no connection, or no list of tools.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("login required")]
    WantsLogin,
    /// It can't be reached or does not speak as it should.
    #[error("{0}")]
    Unreachable(String),
    /// It lists more than is read.
    #[error("{0}")]
    Invalid(String),
}

/// Answers what servers ask of us: nothing. It hears that a list of tools changed.
struct McpClientHandler {
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
pub enum HandshakeMode {
    /// As the newest revision does it, with the older way where the server knows no other.
    Newest,
    Older,
}

impl McpClient {
    /// Shakes hands on a pair of streams. Whoever calls it sets the time it has.
    pub async fn connect_streams(
        read: Box<dyn AsyncRead + Send + Unpin>,
        write: Box<dyn AsyncWrite + Send + Unpin>,
        greeting: HandshakeMode,
    ) -> Result<Self, McpError> {
        let (read, too_long) = MessageLengthWatcher::new(read, LONGEST_MESSAGE);
        let transport = AsyncRwTransport::new_client(read, write).with_max_line_length(LONGEST_MESSAGE);
        Self::connect(AnyTransport::new(transport), too_long, greeting).await
    }

    /// Shakes hands over HTTP. Whoever calls it sets the time it has.
    pub async fn connect_http(endpoint: McpHttpEndpoint, greeting: HandshakeMode) -> Result<Self, McpError> {
        let McpHttpEndpoint { client, url, headers, token, credential } = endpoint;
        let mut config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
        if let Some(token) = token {
            config = config.auth_header(token);
        }
        config.max_sse_event_size = LONGEST_MESSAGE;
        let client = BoundedHttpClient::new(client, credential);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        // Here a message that is too long ends its own request.
        let (_, too_long) = watch::channel(0);
        Self::connect(AnyTransport::new(transport), too_long, greeting).await
    }

    async fn connect(
        transport: AnyTransport,
        too_long: watch::Receiver<u64>,
        greeting: HandshakeMode,
    ) -> Result<Self, McpError> {
        let changed = Arc::new(Notify::new());
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
        Ok(Self { service: Mutex::new(Some(service)), peer, changed, too_long })
    }

    /// Every tool it has, page by page; `most` of them at the most.
    pub async fn list_tools(&self, most: usize) -> Result<Vec<Tool>, McpError> {
        let (mut tools, mut cursor): (Vec<Tool>, Option<String>) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor.take());
            let listed = self.peer.list_tools(Some(page)).await.map_err(|error| listing_error(&error))?;
            tools.extend(listed.tools);
            cursor = listed.next_cursor;
            if cursor.is_none() || tools.len() > most {
                break;
            }
        }
        if cursor.is_some() && tools.len() <= most {
            return Err(McpError::Invalid(format!("the list of tools has more than {MOST_PAGES} pages")));
        }
        if tools.len() > most {
            return Err(McpError::Invalid(format!("more than {most} tools are listed")));
        }
        Ok(tools)
    }

    /// The server's own name and version, where it tells them.
    pub fn find_server_name(&self) -> Option<Implementation> {
        self.peer.peer_info().as_ref().and_then(|info| info.server_info.clone())
    }

    /// Calls a tool. Dropping it tells the server that nobody waits any more.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        key: Option<String>,
    ) -> Result<CallToolResult, McpCallError> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        if let Some(key) = key {
            let mut meta = RequestMetaObject::new();
            meta.0.insert(KEY_META.to_owned(), Value::String(key));
            params.meta = Some(meta);
        }
        let mut too_long = self.too_long.clone();
        too_long.mark_unchanged();
        tokio::select! {
            answer = self.peer.call_tool(params) => answer.map_err(McpCallError::from_service_error),
            Ok(()) = too_long.changed() => Err(McpCallError::TooLong),
        }
    }

    /// Whether it still answers, with whatever.
    pub async fn is_alive(&self, within: Duration) -> bool {
        let ping = self.peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
        match timeout(within, ping).await {
            Ok(Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse)) => true,
            Ok(Err(_)) | Err(_) => false,
        }
    }

    /// Once the other side is gone.
    pub async fn wait_closed(&self) {
        while !self.peer.is_transport_closed() {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    /// Closes the line.
    pub async fn close(&self) {
        if let Some(mut service) = self.service.lock().await.take() {
            let _ = service.close_with_timeout(CLOSING).await;
        }
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpClient")
    }
}

/// Why a call came to nothing.
#[derive(Debug)]
pub enum McpCallError {
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
struct CredentialError(String);

impl fmt::Display for McpCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { words, .. } => write!(f, "call refused: {words}"),
            Self::Lost(words) | Self::NotSent(words) => f.write_str(words),
            Self::TooLong => f.write_str("the response is too large"),
            Self::NotIn => f.write_str("login required"),
        }
    }
}

impl McpCallError {
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
    causes(error).find_map(|cause| Some(cause.downcast_ref::<CredentialError>()?.to_string()))
}

fn handshake_error(error: &ClientInitializeError) -> McpError {
    match error.is_authorization_required() {
        true => McpError::WantsLogin,
        false => {
            McpError::Unreachable(format!("handshake failed: {}", error_text::render_handshake_error(error)))
        }
    }
}

fn listing_error(error: &ServiceError) -> McpError {
    if matches!(error, ServiceError::TransportSend(error) if needs_login(error)) {
        return McpError::WantsLogin;
    }
    McpError::Unreachable(format!("listing tools failed: {}", error_text::render_call_error(error)))
}
