//! What chat completions send. A whole answer is a chunk with `message` in the place of `delta`.

use serde::Deserialize;
use serde_json::Value;

use super::error;
use super::stream::OpenAiDecoder;
use crate::chat::{ChatEvent, StopReason, TokenUsage};
use crate::error::ModelError;
use crate::protocol::{self, StreamDecoder as _};
use crate::transport::ProviderResponseHead;

#[derive(Debug, Deserialize)]
pub(super) struct OpenAiChunk {
    pub id: Option<String>,
    pub model: Option<String>,
    #[serde(default)]
    pub choices: Vec<OpenAiChoice>,
    pub usage: Option<OpenAiUsage>,
    /// Groq's place for the count in a stream.
    pub x_groq: Option<GroqExtension>,
    pub error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct GroqExtension {
    pub usage: Option<OpenAiUsage>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OpenAiChoice {
    #[serde(default)]
    pub index: usize,
    #[serde(default, alias = "message")]
    pub delta: OpenAiDelta,
    pub finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct OpenAiDelta {
    pub content: Option<String>,
    pub refusal: Option<String>,
    /// Thinking, under the names that servers have for it.
    pub reasoning_content: Option<String>,
    pub reasoning: Option<String>,
    pub tool_calls: Option<Vec<OpenAiCallDelta>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OpenAiCallDelta {
    pub index: Option<usize>,
    pub id: Option<String>,
    pub function: Option<OpenAiFunctionDelta>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OpenAiFunctionDelta {
    pub name: Option<String>,
    /// A string as documented; an object from some servers.
    #[serde(default)]
    pub arguments: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct OpenAiUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for what came from the cache.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl OpenAiUsage {
    /// This wire's prompt count includes the cache, ours does not; both outputs include thinking.
    pub(super) fn usage(&self) -> TokenUsage {
        let prompt = self.prompt_tokens.unwrap_or(0);
        let details = self.prompt_tokens_details.unwrap_or_default();
        let cache_read = details.cached_tokens.or(self.prompt_cache_hit_tokens).unwrap_or(0).min(prompt);
        let cache_write_5m = details.cache_write_tokens.unwrap_or(0).min(prompt - cache_read);
        let thinking = self.completion_tokens_details.unwrap_or_default().reasoning_tokens;
        TokenUsage {
            input: prompt - cache_read - cache_write_5m,
            output: self.completion_tokens.unwrap_or(0),
            cache_read,
            cache_write_5m,
            cache_write_1h: 0,
            thinking: thinking.unwrap_or(0),
            estimated: self.prompt_tokens.is_none() && self.completion_tokens.is_none(),
        }
    }
}

/// A forced call ends with `stop`, and some servers say `stop` after any call; what counts is that there was one.
pub(super) fn stop_reason(text: &str, has_calls: bool, has_refused: bool) -> StopReason {
    match text {
        _ if has_refused => StopReason::Refused,
        "stop" | "tool_calls" | "function_call" if has_calls => StopReason::ToolUse,
        "stop" | "tool_calls" | "function_call" | "eos" | "end_turn" => StopReason::EndTurn,
        "length" | "max_tokens" | "model_length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refused,
        other => StopReason::from_provider(other),
    }
}

pub(super) fn decode_reply(head: &ProviderResponseHead, body: &[u8]) -> Result<Vec<ChatEvent>, ModelError> {
    let chunk: OpenAiChunk = protocol::parse(body)?;
    if let Some(error) = chunk.error {
        return Err(error::classify_stream_error(&error));
    }
    if chunk.choices.is_empty() {
        return Err(ModelError::Garbled("the response has no choices".to_owned()));
    }
    let mut decoder = OpenAiDecoder::new(head.request_id.clone());
    let mut events = Vec::new();
    decoder.chunk(chunk, &mut events)?;
    decoder.end(&mut events)?;
    Ok(events)
}
