//! A call to a model, before any wire has seen it.

use std::sync::Arc;

use munshi_types::tier::LanguageCode;
use munshi_types::tool::ToolSpec;
use serde_json::Value;

use super::message::ChatMessage;

/// Deterministic to the byte for the same values, so that provider caches hit.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// The system text in blocks; a cache breakpoint may stand after any of them.
    pub system: Vec<String>,
    pub messages: Vec<ChatMessage>,
    pub tools: Vec<Arc<ToolSpec>>,
    pub tool_choice: ToolChoice,
    pub max_output_tokens: u32,
    /// In thousandths, so that a request can be compared and hashed; none leaves it to the provider.
    pub temperature_milli: Option<u32>,
    pub stop: Vec<String>,
    pub thinking: Option<ThinkingBudget>,
    pub output: ReplyFormat,
    /// Where the caller knows the text before to be stable; at most four are used.
    pub breakpoints: Vec<CacheBreakpoint>,
    /// A name for the end user that says nothing about them, where a provider wants one against abuse.
    pub user: Option<String>,
    /// The language the person is answered in, such as `hi-latn`, for a model that speaks in phrases. Others read it in
    /// the system text.
    pub language: Option<LanguageCode>,
}

impl Default for ChatRequest {
    fn default() -> Self {
        Self {
            system: Vec::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: ToolChoice::default(),
            max_output_tokens: 2_048,
            temperature_milli: None,
            stop: Vec::new(),
            thinking: None,
            output: ReplyFormat::default(),
            breakpoints: Vec::new(),
            user: None,
            language: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    #[default]
    Auto,
    /// Some tool must be called.
    Any,
    None,
    Named(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkingBudget {
    pub budget_tokens: u32,
}

/// What form the answer takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ReplyFormat {
    #[default]
    Text,
    /// JSON of this schema; validated here whatever the provider promises.
    Json { name: String, schema: Value },
}

/// The end of a prefix worth caching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheBreakpoint {
    AfterTools(CacheLifetime),
    /// After the system block with this index.
    AfterSystem(usize, CacheLifetime),
    /// After the message with this index.
    AfterMessage(usize, CacheLifetime),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheLifetime {
    FiveMinutes,
    OneHour,
}
