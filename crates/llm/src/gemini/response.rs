//! What Gemini sends. A whole answer has the form of one chunk of a stream.

use serde::Deserialize;
use serde_json::Value;

use super::stream::GeminiDecoder;
use crate::chat::{ChatEvent, StopReason, TokenUsage};
use crate::error::ModelError;
use crate::protocol::{self, StreamDecoder as _};
use crate::transport::ProviderResponseHead;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiChunk {
    #[serde(default)]
    pub candidates: Vec<GeminiCandidate>,
    pub prompt_feedback: Option<GeminiPromptFeedback>,
    pub usage_metadata: Option<GeminiUsage>,
    pub model_version: Option<String>,
    pub response_id: Option<String>,
    pub error: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiPromptFeedback {
    pub block_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiCandidate {
    #[serde(default)]
    pub index: usize,
    #[serde(default)]
    pub content: GeminiReplyContent,
    pub finish_reason: Option<String>,
    pub finish_message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct GeminiReplyContent {
    #[serde(default)]
    pub parts: Vec<GeminiReplyPart>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiReplyPart {
    pub text: Option<String>,
    #[serde(default)]
    pub thought: bool,
    pub thought_signature: Option<String>,
    pub function_call: Option<GeminiReplyCall>,
}

#[derive(Debug, Deserialize)]
pub(super) struct GeminiReplyCall {
    pub id: Option<String>,
    pub name: String,
    #[serde(default)]
    pub args: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiUsage {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
}

impl GeminiUsage {
    /// Gemini's prompt count includes the cache and its output leaves thinking out; ours are the other way round.
    pub(super) fn usage(&self) -> TokenUsage {
        let prompt = self.prompt_token_count.unwrap_or(0);
        let cache_read = self.cached_content_token_count.unwrap_or(0).min(prompt);
        let thinking = self.thoughts_token_count.unwrap_or(0);
        TokenUsage {
            input: (prompt - cache_read).saturating_add(self.tool_use_prompt_token_count.unwrap_or(0)),
            output: self.candidates_token_count.unwrap_or(0).saturating_add(thinking),
            cache_read,
            thinking,
            estimated: self.prompt_token_count.is_none() && self.candidates_token_count.is_none(),
            ..TokenUsage::default()
        }
    }
}

/// A call it could not write properly is asked for again, so it is a fault and no end.
pub(super) fn stop_reason(
    text: &str,
    message: Option<String>,
    has_calls: bool,
) -> Result<StopReason, ModelError> {
    Ok(match text {
        "STOP" if has_calls => StopReason::ToolUse,
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => StopReason::Refused,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            let text = message.unwrap_or_default();
            return Err(ModelError::MalformedArguments { tool: "a tool".to_owned(), text });
        }
        other => StopReason::from_provider(other),
    })
}

pub(super) fn decode_reply(head: &ProviderResponseHead, body: &[u8]) -> Result<Vec<ChatEvent>, ModelError> {
    let chunk: GeminiChunk = protocol::parse(body)?;
    let mut decoder = GeminiDecoder::new(head.request_id.clone());
    let mut events = Vec::new();
    decoder.chunk(chunk, &mut events)?;
    decoder.end(&mut events)?;
    Ok(events)
}
