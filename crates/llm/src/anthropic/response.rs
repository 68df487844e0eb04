//! What Anthropic sends: the parts that a whole answer and a stream share.

use serde::Deserialize;
use serde_json::Value;

use super::error;
use super::stream::AnthropicDecoder;
use crate::chat::{ChatEvent, StopReason, TokenUsage};
use crate::error::ModelError;
use crate::protocol;
use crate::transport::ProviderResponseHead;

/// A whole message, or the empty one that begins a stream.
#[derive(Debug, Deserialize)]
pub(super) struct AnthropicMessage {
    pub model: Option<String>,
    #[serde(default)]
    pub content: Vec<AnthropicBlock>,
    pub stop_reason: Option<String>,
    #[serde(default)]
    pub usage: AnthropicUsage,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum AnthropicBlock {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    /// What the provider's own tools do; none of it is asked for.
    #[serde(other)]
    Unknown,
}

/// As the provider counts; each count that comes replaces the one before.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct AnthropicUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    /// All writes, of either lifetime.
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<Writes>,
    output_tokens_details: Option<Details>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct Writes {
    #[serde(default)]
    ephemeral_5m_input_tokens: u64,
    #[serde(default)]
    ephemeral_1h_input_tokens: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct Details {
    #[serde(default)]
    thinking_tokens: u64,
}

impl AnthropicUsage {
    pub(super) fn update(&mut self, newer: &Self) {
        let Self {
            input_tokens,
            output_tokens,
            cache_read_input_tokens,
            cache_creation_input_tokens,
            cache_creation,
            output_tokens_details,
        } = self;
        *input_tokens = newer.input_tokens.or(*input_tokens);
        *output_tokens = newer.output_tokens.or(*output_tokens);
        *cache_read_input_tokens = newer.cache_read_input_tokens.or(*cache_read_input_tokens);
        *cache_creation_input_tokens = newer.cache_creation_input_tokens.or(*cache_creation_input_tokens);
        *cache_creation = newer.cache_creation.or(*cache_creation);
        *output_tokens_details = newer.output_tokens_details.or(*output_tokens_details);
    }

    /// Anthropic's `input_tokens` already leaves the cache out. Writes that it does not split are of five minutes.
    pub(super) fn usage(&self) -> TokenUsage {
        let writes = self.cache_creation.unwrap_or_default();
        let split = writes.ephemeral_5m_input_tokens.saturating_add(writes.ephemeral_1h_input_tokens);
        let written = self.cache_creation_input_tokens.unwrap_or(split);
        let one_hour = writes.ephemeral_1h_input_tokens.min(written);
        TokenUsage {
            input: self.input_tokens.unwrap_or(0),
            output: self.output_tokens.unwrap_or(0),
            cache_read: self.cache_read_input_tokens.unwrap_or(0),
            cache_write_5m: written - one_hour,
            cache_write_1h: one_hour,
            thinking: self.output_tokens_details.unwrap_or_default().thinking_tokens,
            estimated: self.input_tokens.is_none() && self.output_tokens.is_none(),
        }
    }
}

pub(super) fn stop_reason(text: Option<&str>) -> StopReason {
    match text {
        Some("end_turn") => StopReason::EndTurn,
        Some("tool_use") => StopReason::ToolUse,
        // The window is full, which cuts the answer off just the same.
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::MaxTokens,
        Some("stop_sequence") => StopReason::StopSequence,
        Some("refusal") => StopReason::Refused,
        other => StopReason::from_provider(other.unwrap_or("not said")),
    }
}

/// Read as the stream of the same message would be.
pub(super) fn decode_reply(head: &ProviderResponseHead, body: &[u8]) -> Result<Vec<ChatEvent>, ModelError> {
    let answer: Value = protocol::parse(body)?;
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        return Err(error::classify_stream_error(error));
    }
    let message = serde_json::from_value::<AnthropicMessage>(answer);
    let message = message.map_err(|_| ModelError::Garbled("unexpected JSON structure".to_owned()))?;
    if message.stop_reason.is_none() {
        return Err(ModelError::Garbled("the response has no stop reason".to_owned()));
    }
    let mut decoder = AnthropicDecoder::new(head.request_id.clone());
    let mut events = Vec::new();
    decoder.decode_whole_message(message, &mut events);
    Ok(events)
}
