//! The protocol's side.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::Response;
use munshi_server::error::ApiError;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ErrorData, Implementation, JsonObject, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use super::progress::McpCallProgress;
use super::{agents, calls, key_access, pending, results, tool_definitions};
use crate::api::access::AuthorizedCaller;

/// Our own key of a write, as our host sends it beside the arguments.
const KEY: &str = "munshi/key";
/// So many tools are told at once; the name of the last is where the next page begins.
const PAGE: usize = 200;
/// How long a client waits that is told of progress.
const LONG: Duration = Duration::from_secs(600);
const INSTRUCTIONS: &str = "The tools of a business and the agents that speak for it. `ask_…` asks an agent in words; \
    the others are called with arguments. What writes is confirmed by a person: the answer then has an approval's id. \
    What takes long is answered with the id of its act or run. With any of these `go_on` hears what came of it.";

/// Answers one request of a client. Whose it is stands in its extensions, as an `Arc<AuthorizedCaller>`.
pub(crate) async fn handle_request(request: Request, stopping: CancellationToken) -> Response {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // Whom a request may be addressed to is not known behind proxies; it is looked at whose page sends it.
        .disable_allowed_hosts()
        .with_cancellation_token(stopping);
    let service =
        StreamableHttpService::new(|| Ok(McpServerHandler), Arc::<NeverSessionManager>::default(), config);
    service.handle(request).await.map(Body::new)
}

/// Made anew for every request; whose it is stands in the request.
struct McpServerHandler;

impl ServerHandler for McpServerHandler {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("munshi", env!("CARGO_PKG_VERSION")).with_title("Munshi");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let key = get_caller(&context)?;
        let mut all = collect_tools(&key).await.map_err(|error| internal_error(&error))?;
        let after = request.and_then(|request| request.cursor);
        if let Some(after) = &after {
            if !all.iter().any(|tool| tool.name == after.as_str()) {
                return Err(ErrorData::invalid_params(
                    "there is no such page: ask for the first again",
                    None,
                ));
            }
            all.retain(|tool| tool.name.as_ref() > after.as_str());
        }
        let more = all.len() > PAGE;
        all.truncate(PAGE);
        let next = all.last().filter(|_| more).map(|tool| tool.name.to_string());
        let mut listed = ListToolsResult::with_all_items(all);
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let key = get_caller(&context)?;
        let given = context.meta.0.0.get(KEY).and_then(|value| value.as_str()).map(str::to_owned);
        let arguments = request.arguments.unwrap_or_default();
        let progress = McpCallProgress::from_context(&context);
        let timeout = if progress.is_requested() { LONG } else { key.api.reply_timeout };
        let called = Called { name: &request.name, arguments, given, timeout };
        match progress.run(dispatch(&key, called)).await {
            Ok(Some(result)) => Ok(result.into()),
            // What the key does not reach looks like what is not there.
            Ok(None) => {
                let words = format!(
                    "There is no tool {} that this key reaches.",
                    munshi_server::json::shorten(&request.name)
                );
                Err(ErrorData::invalid_params(words, None))
            }
            Err(error) => results::render_error(&error).map(Into::into),
        }
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

/// The route has put it there.
fn get_caller(context: &RequestContext<RoleServer>) -> Result<Arc<AuthorizedCaller>, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let key = parts.and_then(|parts| parts.extensions.get::<Arc<AuthorizedCaller>>());
    key.cloned().ok_or_else(|| ErrorData::internal_error("the request has no key", None))
}

fn internal_error(error: &ApiError) -> ErrorData {
    munshi_server::middleware::log_error(error);
    ErrorData::internal_error(format!("{} {}", error.message, error.hint), None)
}

/// Everything the key reaches, by name. Where a tool goes by an agent's name, it is the tool that is meant.
async fn collect_tools(key: &AuthorizedCaller) -> Result<Vec<Tool>, ApiError> {
    let bindings = key_access::list_bindings(key).await?;
    let mut all: Vec<Tool> = key_access::list_tools(key, &bindings, None)
        .await?
        .iter()
        .map(tool_definitions::describe_tool)
        .collect();
    if key_access::can_ask_agents(key) {
        let agents: Vec<Tool> =
            bindings.iter().map(|binding| tool_definitions::describe_agent(key, binding)).collect();
        let is_new = |agent: &Tool, all: &[Tool]| all.iter().all(|tool| tool.name != agent.name);
        let agents: Vec<Tool> = agents.into_iter().filter(|agent| is_new(agent, &all)).collect();
        all.extend(agents);
    }
    if !all.is_empty() && all.iter().all(|tool| tool.name != tool_definitions::GO_ON) {
        all.push(tool_definitions::describe_resume());
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

/// One call as it was asked for.
struct Called<'a> {
    name: &'a str,
    arguments: JsonObject,
    /// The key that came beside the arguments.
    given: Option<String>,
    /// How long a turn or a tool is waited for.
    timeout: Duration,
}

/// None where the key reaches nothing of that name.
async fn dispatch(key: &AuthorizedCaller, called: Called<'_>) -> Result<Option<CallToolResult>, ApiError> {
    let Called { name, arguments, given, timeout } = called;
    let bindings = key_access::list_bindings(key).await?;
    if let Some(offered) = key_access::list_tools(key, &bindings, Some(name)).await?.pop() {
        return calls::call(key, offered, arguments, given, timeout).await.map(Some);
    }
    if name == tool_definitions::GO_ON {
        return pending::resume(key, &bindings, arguments, timeout).await.map(Some);
    }
    let agent = bindings
        .iter()
        .find(|binding| key_access::can_ask_agents(key) && key_access::agent_name(binding) == name);
    match agent {
        Some(binding) => agents::ask(key, binding, arguments, timeout).await.map(Some),
        None => Ok(None),
    }
}
