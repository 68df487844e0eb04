//! What Gemini sends. A whole answer has the form of one chunk of a stream.

use serde::Deserialize;
use serde_json::Value;

use super::stream::Decoder;
use crate::chat::{Event, StopReason, Usage};
use crate::fault::Fault;
use crate::protocol::{self, Decoder as _};
use crate::transport::Head;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk {
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    pub prompt_feedback: Option<Feedback>,
    pub usage_metadata: Option<Counts>,
    pub model_version: Option<String>,
    pub response_id: Option<String>,
    pub error: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback {
    pub block_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate {
    #[serde(default)]
    pub index: usize,
    #[serde(default)]
    pub content: Content,
    pub finish_reason: Option<String>,
    pub finish_message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Content {
    #[serde(default)]
    pub parts: Vec<Piece>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Piece {
    pub text: Option<String>,
    #[serde(default)]
    pub thought: bool,
    pub thought_signature: Option<String>,
    pub function_call: Option<Call>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Call {
    pub id: Option<String>,
    pub name: String,
    #[serde(default)]
    pub args: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counts {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
}

impl Counts {
    /// Gemini's prompt count includes the cache and its output leaves thinking out; ours are the other way round.
    pub(super) fn usage(&self) -> Usage {
        let prompt = self.prompt_token_count.unwrap_or(0);
        let cache_read = self.cached_content_token_count.unwrap_or(0).min(prompt);
        let thinking = self.thoughts_token_count.unwrap_or(0);
        Usage {
            input: (prompt - cache_read).saturating_add(self.tool_use_prompt_token_count.unwrap_or(0)),
            output: self.candidates_token_count.unwrap_or(0).saturating_add(thinking),
            cache_read,
            thinking,
            estimated: self.prompt_token_count.is_none() && self.candidates_token_count.is_none(),
            ..Usage::default()
        }
    }
}

/// A call it could not write properly is asked for again, so it is a fault and no end.
pub(super) fn stop_reason(text: &str, message: Option<String>, has_calls: bool) -> Result<StopReason, Fault> {
    Ok(match text {
        "STOP" if has_calls => StopReason::ToolUse,
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => StopReason::Refused,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            let text = message.unwrap_or_default();
            return Err(Fault::MalformedArguments { tool: "a tool".to_owned(), text });
        }
        other => StopReason::other(other),
    })
}

pub(super) fn whole(head: &Head, body: &[u8]) -> Result<Vec<Event>, Fault> {
    let chunk: Chunk = protocol::parse(body)?;
    let mut decoder = Decoder::new(head.request_id.clone());
    let mut events = Vec::new();
    decoder.chunk(chunk, &mut events)?;
    decoder.end(&mut events)?;
    Ok(events)
}
