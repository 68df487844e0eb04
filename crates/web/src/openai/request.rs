//! What may stand in a request for a completion.

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A conversation kept by the client; its last user message is answered.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CompletionRequest {
    /// The name of a binding; list them with GET /v1/models.
    #[schema(example = "counter")]
    pub(crate) model: String,
    /// The last message is the user's or a tool's result; earlier ones are context.
    #[schema(min_items = 1)]
    pub(crate) messages: Vec<ChatLine>,
    /// Whether to stream the answer as server-sent events.
    pub(crate) stream: Option<bool>,
    pub(crate) stream_options: Option<StreamOptions>,
    /// Tools that the client executes, in addition to the binding's own tools.
    pub(crate) tools: Option<Vec<ClientTool>>,
    /// `auto`, `none`, `required`, or one tool by name.
    pub(crate) tool_choice: Option<Value>,
    /// The person who speaks: a person id, a phone, an e-mail, an @handle, or your own id for them. Default: the
    /// key's person.
    #[schema(max_length = 200)]
    pub(crate) user: Option<String>,
    /// Always 1.
    #[schema(minimum = 1, maximum = 1)]
    pub(crate) n: Option<i64>,
    /// Maximum number of tokens in one model response.
    #[schema(minimum = 1)]
    pub(crate) max_completion_tokens: Option<u32>,
    /// Deprecated alias of `max_completion_tokens`.
    #[schema(minimum = 1)]
    pub(crate) max_tokens: Option<u32>,
    /// Everything else: some is refused, the rest has no effect and is named in the header `x-munshi-ignored`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) rest: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct StreamOptions {
    /// Whether to send a final chunk with the token usage.
    pub(crate) include_usage: Option<bool>,
}

/// One message of the conversation.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatLine {
    /// `system` or `developer` (context), `user`, `assistant`, `tool`.
    #[schema(example = "user")]
    pub(crate) role: String,
    /// Text, or a list of text parts.
    #[schema(example = "When do you open?")]
    pub(crate) content: Option<ChatLineContent>,
    /// For `assistant`: the client tools it called.
    pub(crate) tool_calls: Option<Vec<ClientCall>>,
    /// For `tool`: the call it answers.
    pub(crate) tool_call_id: Option<String>,
}

/// Text, or a list of text parts.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Content)]
pub(crate) enum ChatLineContent {
    Text(String),
    /// Each is `{"type":"text","text":…}`.
    Parts(Vec<Value>),
}

/// A tool that the client executes.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ClientTool {
    /// Always `function`.
    #[serde(rename = "type")]
    #[schema(example = "function")]
    pub(crate) kind: String,
    pub(crate) function: Option<ClientFunction>,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ClientFunction {
    #[schema(pattern = "^[a-zA-Z0-9_-]{1,64}$", example = "get_weather")]
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// A JSON Schema of type `object`.
    #[schema(value_type = Option<Object>)]
    pub(crate) parameters: Option<Value>,
}

/// A call of a client tool.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ClientCall {
    pub(crate) id: String,
    pub(crate) function: CalledFunction,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CalledFunction {
    pub(crate) name: String,
    /// JSON, as text.
    #[schema(example = r#"{"city":"Pune"}"#)]
    pub(crate) arguments: String,
}
