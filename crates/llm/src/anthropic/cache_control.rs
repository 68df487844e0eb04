//! The planner's marks for one request.

use serde::Serialize;
use serde_json::Value;

use crate::cache::{self, RequestTokenCounts};
use crate::chat::{
    CacheBreakpoint, CacheLifetime, ChatMessage, ChatRequest, ModelMedia, ModelMediaSource, ModelMessagePart,
};
use crate::target::ModelTarget;

/// Four bytes a token. Only the smallest size of a prefix depends on it; a mark too many costs nothing.
const BYTES_PER_TOKEN: usize = 4;
/// About what a picture or a page takes, whatever its bytes.
const MEDIA_TOKENS: u64 = 1500;

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct AnthropicCacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Five minutes when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct AnthropicCacheMarks(Vec<CacheBreakpoint>);

impl AnthropicCacheMarks {
    pub(super) fn plan(target: &ModelTarget, request: &ChatRequest) -> Self {
        let minimum = target.capabilities.cache_minimum_tokens;
        if minimum == 0 || request.breakpoints.is_empty() {
            return Self(Vec::new());
        }
        Self(cache::plan(&request.breakpoints, &sizes(request), minimum))
    }

    pub(super) fn after_tools(&self) -> Option<AnthropicCacheControl> {
        self.0.iter().find_map(|mark| match mark {
            CacheBreakpoint::AfterTools(life) => Some(control(*life)),
            _ => None,
        })
    }

    pub(super) fn after_system(&self, index: usize) -> Option<AnthropicCacheControl> {
        self.0.iter().find_map(|mark| match mark {
            CacheBreakpoint::AfterSystem(at, life) if *at == index => Some(control(*life)),
            _ => None,
        })
    }

    pub(super) fn after_message(&self, index: usize) -> Option<AnthropicCacheControl> {
        self.0.iter().find_map(|mark| match mark {
            CacheBreakpoint::AfterMessage(at, life) if *at == index => Some(control(*life)),
            _ => None,
        })
    }
}

fn control(life: CacheLifetime) -> AnthropicCacheControl {
    let ttl = match life {
        CacheLifetime::FiveMinutes => None,
        CacheLifetime::OneHour => Some("1h"),
    };
    AnthropicCacheControl { kind: "ephemeral", ttl }
}

fn sizes(request: &ChatRequest) -> RequestTokenCounts {
    let tool = |parameters: &Value| estimate_tokens(parameters.to_string().len());
    let tools = request
        .tools
        .iter()
        .map(|spec| estimate_tokens(spec.description.len()) + tool(&spec.model_parameters()));
    RequestTokenCounts {
        tools: tools.sum(),
        system: request.system.iter().map(|text| estimate_tokens(text.len())).collect(),
        messages: request.messages.iter().map(message_size).collect(),
    }
}

fn message_size(message: &ChatMessage) -> u64 {
    message.parts.iter().map(part_size).sum()
}

fn part_size(part: &ModelMessagePart) -> u64 {
    match part {
        ModelMessagePart::Text { text } | ModelMessagePart::Thinking { text, .. } => {
            estimate_tokens(text.len())
        }
        ModelMessagePart::ToolResult(result) => estimate_tokens(result.content.len()),
        ModelMessagePart::ToolCall(call) => estimate_tokens(call.arguments.to_string().len()),
        ModelMessagePart::Document(ModelMedia { source: ModelMediaSource::Data(data), media_type })
            if media_type.starts_with("text/") =>
        {
            estimate_tokens(data.len())
        }
        ModelMessagePart::Image(_) | ModelMessagePart::Document(_) => MEDIA_TOKENS,
        ModelMessagePart::SealedThinking { .. } | ModelMessagePart::State { .. } => 0,
    }
}

fn estimate_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(u64::MAX)
}
