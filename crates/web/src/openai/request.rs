//! What may stand in a request for a completion.

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A conversation as the client knows it; its last words of the user are answered.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CompletionRequest {
    /// The name of a binding; GET /v1/models lists them.
    #[schema(example = "counter")]
    pub(crate) model: String,
    /// The last one is the user's, or the answer of a tool that was called; what stands before is context.
    #[schema(min_items = 1)]
    pub(crate) messages: Vec<ChatLine>,
    /// Whether the answer comes as server-sent events.
    pub(crate) stream: Option<bool>,
    pub(crate) stream_options: Option<StreamOptions>,
    /// Tools of the client: it is asked to call them, beside those that the binding has and calls itself.
    pub(crate) tools: Option<Vec<ClientTool>>,
    /// `auto`, `none`, `required`, or one tool by its name.
    pub(crate) tool_choice: Option<Value>,
    /// Who speaks: an id of a person, a phone, an e-mail, an @handle, or the client's own id of them. Without it, whom the
    /// key stands for.
    #[schema(max_length = 200)]
    pub(crate) user: Option<String>,
    /// Always 1.
    #[schema(minimum = 1, maximum = 1)]
    pub(crate) n: Option<i64>,
    /// At most so many tokens in one answer of the model.
    #[schema(minimum = 1)]
    pub(crate) max_completion_tokens: Option<u32>,
    /// The same, by its older name.
    #[schema(minimum = 1)]
    pub(crate) max_tokens: Option<u32>,
    /// Everything else: some is refused, the rest has no effect and is named in the header `x-munshi-ignored`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub(crate) rest: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct StreamOptions {
    /// Whether a last piece says what was used.
    pub(crate) include_usage: Option<bool>,
}

/// One message of the conversation.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatLine {
    /// `system` or `developer` (context), `user`, `assistant`, `tool`.
    #[schema(example = "user")]
    pub(crate) role: String,
    /// Text, or parts of which each is text.
    #[schema(example = "When do you open?")]
    pub(crate) content: Option<ChatLineContent>,
    /// Of the assistant: what it asked of the client's tools.
    pub(crate) tool_calls: Option<Vec<ClientCall>>,
    /// Of a tool: which call it answers.
    pub(crate) tool_call_id: Option<String>,
}

/// What was said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Content)]
pub(crate) enum ChatLineContent {
    Text(String),
    /// `{"type":"text","text":…}` each.
    Parts(Vec<Value>),
}

/// A tool of the client.
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
    /// JSON Schema of an object.
    #[schema(value_type = Option<Object>)]
    pub(crate) parameters: Option<Value>,
}

/// A call of a client's tool.
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
