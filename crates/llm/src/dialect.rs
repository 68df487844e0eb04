//! How a server differs from what its wire documents. The default is the documented form.

use serde_json::{Map, Value};

/// Part of a target, set by configuration; nothing is guessed from names of hosts or models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    pub key: KeyHeader,
    /// Added to every address, such as Azure's `api-version`.
    pub query: Vec<(String, String)>,
    /// What the OpenAI wire calls the output limit.
    pub output_limit: OutputLimit,
    /// Answers are asked for word by word. Off for a server that streams badly or not at all: then an answer comes whole,
    /// and its first word is its last.
    pub stream: bool,
    /// Asks for a count at the end of a stream (`stream_options`), which some older servers refuse.
    pub stream_usage: bool,
    /// Some models refuse a temperature of the caller's choice; then none is sent.
    pub temperature: bool,
    pub json: JsonMode,
    pub thinking: ThinkingMode,
    /// Where an assistant's thinking goes back on the OpenAI wire, such as `reasoning_content`; none leaves it out.
    pub thinking_field: Option<String>,
    /// Where the end user's name goes on the OpenAI wire, such as `safety_identifier`; none leaves it out.
    pub user_field: Option<String>,
    /// What stands for the signature of a tool call that another model made. Gemini 3 refuses the conversation
    /// without one; its documentation gives `skip_thought_signature_validator` for this.
    pub unsigned_call: Option<String>,
    /// Fields set in every body as they are, over ours: safety settings, a service tier, template arguments.
    pub extra: Map<String, Value>,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            key: KeyHeader::default(),
            query: Vec::new(),
            output_limit: OutputLimit::default(),
            stream: true,
            stream_usage: true,
            temperature: true,
            json: JsonMode::default(),
            thinking: ThinkingMode::default(),
            thinking_field: None,
            user_field: None,
            unsigned_call: None,
            extra: Map::new(),
        }
    }
}

/// The header that carries the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeyHeader {
    /// `x-api-key`, `authorization: Bearer` or `x-goog-api-key`.
    #[default]
    AsDocumented,
    Bearer,
    /// As it is under this name, such as Azure's `api-key`.
    Header(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputLimit {
    #[default]
    MaxCompletionTokens,
    /// The older name, which most compatible servers know and OpenAI's thinking models refuse.
    MaxTokens,
}

/// How an answer in JSON is asked for. Whatever the provider promises, the gateway validates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonMode {
    /// By the wire's own JSON schema output.
    #[default]
    Schema,
    /// By a tool the model must call; its arguments are the answer.
    Tool,
    /// The wire promises some JSON object; the schema is told in words.
    Object,
    /// In words only.
    Words,
}

/// How much a model should think is said in one of two ways; the OpenAI wire knows only effort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThinkingMode {
    /// A number of tokens: Claude up to 4.5, Gemini 2.5.
    #[default]
    Budget,
    /// Low, medium or high: newer Claude and Gemini, which refuse a number.
    Effort,
}
