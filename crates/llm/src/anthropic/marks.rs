//! The planner's marks for one request.

use serde::Serialize;
use serde_json::Value;

use crate::cache::{self, Sizes};
use crate::chat::{Breakpoint, ChatRequest, Lifetime, Media, MediaSource, Message, Part};
use crate::target::Target;

/// Four bytes a token. Only the smallest size of a prefix depends on it; a mark too many costs nothing.
const BYTES_PER_TOKEN: usize = 4;
/// About what a picture or a page takes, whatever its bytes.
const MEDIA_TOKENS: u64 = 1500;

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Five minutes when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct Marks(Vec<Breakpoint>);

impl Marks {
    pub(super) fn plan(target: &Target, request: &ChatRequest) -> Self {
        let minimum = target.capabilities.cache_minimum_tokens;
        if minimum == 0 || request.breakpoints.is_empty() {
            return Self(Vec::new());
        }
        Self(cache::plan(&request.breakpoints, &sizes(request), minimum))
    }

    pub(super) fn after_tools(&self) -> Option<CacheControl> {
        self.0.iter().find_map(|mark| match mark {
            Breakpoint::AfterTools(life) => Some(control(*life)),
            _ => None,
        })
    }

    pub(super) fn after_system(&self, index: usize) -> Option<CacheControl> {
        self.0.iter().find_map(|mark| match mark {
            Breakpoint::AfterSystem(at, life) if *at == index => Some(control(*life)),
            _ => None,
        })
    }

    pub(super) fn after_message(&self, index: usize) -> Option<CacheControl> {
        self.0.iter().find_map(|mark| match mark {
            Breakpoint::AfterMessage(at, life) if *at == index => Some(control(*life)),
            _ => None,
        })
    }
}

fn control(life: Lifetime) -> CacheControl {
    let ttl = match life {
        Lifetime::FiveMinutes => None,
        Lifetime::OneHour => Some("1h"),
    };
    CacheControl { kind: "ephemeral", ttl }
}

fn sizes(request: &ChatRequest) -> Sizes {
    let tool = |parameters: &Value| tokens(parameters.to_string().len());
    let tools = request.tools.iter().map(|spec| tokens(spec.description.len()) + tool(&spec.parameters));
    Sizes {
        tools: tools.sum(),
        system: request.system.iter().map(|text| tokens(text.len())).collect(),
        messages: request.messages.iter().map(message_size).collect(),
    }
}

fn message_size(message: &Message) -> u64 {
    message.parts.iter().map(part_size).sum()
}

fn part_size(part: &Part) -> u64 {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } => tokens(text.len()),
        Part::ToolResult(result) => tokens(result.content.len()),
        Part::ToolCall(call) => tokens(call.arguments.to_string().len()),
        Part::Document(Media { source: MediaSource::Data(data), media_type })
            if media_type.starts_with("text/") =>
        {
            tokens(data.len())
        }
        Part::Image(_) | Part::Document(_) => MEDIA_TOKENS,
        Part::SealedThinking { .. } | Part::State { .. } => 0,
    }
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(u64::MAX)
}
