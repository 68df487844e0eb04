//! The protocol's side.

use std::time::Duration;

use async_trait::async_trait;
use munshi_mcp::{
    CallToolResult, ErrorData, Implementation, JsonObject, Tool, ToolPage, ToolServer, ToolServerCall,
};
use munshi_server::error::ApiError;

use super::{administration, agents, calls, key_access, pending, results, tool_definitions};
use crate::api::access::AuthorizedCaller;

/// So many tools are told at once; the name of the last is where the next page begins.
const PAGE: usize = 200;
/// How long a client waits that is told of progress.
const LONG: Duration = Duration::from_secs(600);
const INSTRUCTIONS: &str = "The tools of a business and the agents that speak for it. `ask_…` asks an agent in words; \
    the others are called with arguments. What writes is confirmed by a person: the answer then has an approval's id. \
    What takes long is answered with the id of its act or run. With any of these `go_on` hears what came of it. \
    `list_…` and `read_…` look at how the business is run, where the key was opened for it.";

/// What a key reaches. Made anew for every request of its client.
pub(crate) struct KeyToolServer(pub(crate) AuthorizedCaller);

#[async_trait]
impl ToolServer for KeyToolServer {
    fn about(&self) -> Implementation {
        Implementation::new("munshi", env!("CARGO_PKG_VERSION")).with_title("Munshi")
    }

    fn instructions(&self) -> Option<&'static str> {
        Some(INSTRUCTIONS)
    }

    async fn list_tools(&self, after: Option<String>) -> Result<ToolPage, ErrorData> {
        let mut tools = collect_tools(&self.0).await.map_err(|error| internal_error(&error))?;
        if let Some(after) = &after {
            if !tools.iter().any(|tool| tool.name == after.as_str()) {
                return Err(ErrorData::invalid_params(
                    "there is no such page: ask for the first again",
                    None,
                ));
            }
            tools.retain(|tool| tool.name.as_ref() > after.as_str());
        }
        let more = tools.len() > PAGE;
        tools.truncate(PAGE);
        let next = tools.last().filter(|_| more).map(|tool| tool.name.to_string());
        Ok(ToolPage { tools, next })
    }

    async fn call_tool(&self, call: ToolServerCall) -> Result<CallToolResult, ErrorData> {
        let ToolServerCall { name, arguments, key: given, progress, .. } = call;
        let timeout = if progress.is_requested() { LONG } else { self.0.api.reply_timeout };
        let called = Called { name: &name, arguments, given, timeout };
        match progress.run(dispatch(&self.0, called)).await {
            Ok(Some(result)) => Ok(result),
            // What the key does not reach looks like what is not there.
            Ok(None) => {
                let name = munshi_server::json::shorten(&name);
                let words = format!("There is no tool {name} that this key reaches.");
                Err(ErrorData::invalid_params(words, None))
            }
            Err(error) => results::render_error(&error),
        }
    }
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
    for tool in administration::describe_tools(key)? {
        if all.iter().all(|known| known.name != tool.name) {
            all.push(tool);
        }
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
        None => administration::call(key, name, &arguments).await,
    }
}
