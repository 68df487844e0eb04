//! Answering clients that speak the protocol.
//!
//! - [`ToolServer`]: what is offered; [`serve_stream`], [`answer_http_request`]: over what
//! - `progress`: telling a client that something goes on

mod progress;

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::combinators::{BoxBody, UnsyncBoxBody};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ErrorData, Implementation, JsonObject, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use tokio::io::DuplexStream;
use tokio_util::sync::CancellationToken;

pub use progress::McpCallProgress;

use crate::{KEY_META, LONGEST_MESSAGE};

/// A server that has tools and nothing else.
#[async_trait]
pub trait ToolServer: Send + Sync + 'static {
    /// Its own name and version.
    fn about(&self) -> Implementation;

    /// What it is for, in words for a model.
    fn instructions(&self) -> Option<&'static str> {
        None
    }

    /// A page of its tools: the first, or the one that begins after `after`, which an earlier page gave.
    async fn list_tools(&self, after: Option<String>) -> Result<ToolPage, ErrorData>;

    async fn call_tool(&self, call: ToolServerCall) -> Result<CallToolResult, ErrorData>;
}

pub struct ToolPage {
    pub tools: Vec<Tool>,
    /// Where the next page begins; none on the last.
    pub next: Option<String>,
}

/// One call as a client asks for it.
pub struct ToolServerCall {
    pub name: String,
    pub arguments: JsonObject,
    /// The act's key, where it came beside the arguments.
    pub key: Option<String>,
    pub progress: McpCallProgress,
    /// Cancelled once the client waits no longer.
    pub cancelled: CancellationToken,
}

/// Speaks the protocol on a line until it closes.
pub async fn serve_stream(server: Arc<dyn ToolServer>, line: DuplexStream) {
    let (read, write) = tokio::io::split(line);
    let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(LONGEST_MESSAGE);
    match rmcp::serve_server(McpServerHandler(server), transport).await {
        Ok(running) => {
            let _ = running.waiting().await;
        }
        Err(error) => tracing::debug!(%error, "MCP connection closed before the handshake"),
    }
}

/// Answers one request over Streamable HTTP. There are no sessions, so any node answers.
pub async fn answer_http_request<B>(
    server: Arc<dyn ToolServer>,
    request: Request<B>,
    stopping: CancellationToken,
) -> Response<BoxBody<Bytes, Infallible>>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    answer_boxed(server, request.map(|body| body.map_err(Into::into).boxed_unsync()), stopping).await
}

type BoxError = Box<dyn Error + Send + Sync>;

async fn answer_boxed(
    server: Arc<dyn ToolServer>,
    request: Request<UnsyncBoxBody<Bytes, BoxError>>,
    stopping: CancellationToken,
) -> Response<BoxBody<Bytes, Infallible>> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // Whom a request may be addressed to is not known behind proxies; it is looked at whose page sends it.
        .disable_allowed_hosts()
        .with_cancellation_token(stopping);
    let handler = move || Ok(McpServerHandler(server.clone()));
    StreamableHttpService::new(handler, Arc::<NeverSessionManager>::default(), config).handle(request).await
}

/// A server behind the SDK's trait.
struct McpServerHandler(Arc<dyn ToolServer>);

impl ServerHandler for McpServerHandler {
    fn get_info(&self) -> ServerConfig {
        let config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(self.0.about());
        match self.0.instructions() {
            Some(words) => config.with_instructions(words),
            None => config,
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let ToolPage { tools, next } = self.0.list_tools(request.and_then(|request| request.cursor)).await?;
        let mut listed = ListToolsResult::with_all_items(tools);
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = ToolServerCall {
            name: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            key: context.meta.0.0.get(KEY_META).and_then(|value| value.as_str()).map(str::to_owned),
            progress: McpCallProgress::from_context(&context),
            cancelled: context.ct,
        };
        self.0.call_tool(call).await.map(Into::into)
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }
}
