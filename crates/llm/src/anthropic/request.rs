//! A request as Anthropic's Messages want it. Fields come in a fixed order, so equal requests are equal bytes and the
//! provider's cache finds them.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::cache_control::{AnthropicCacheControl, AnthropicCacheMarks};
use crate::chat::{
    ChatMessage, ChatRequest, ModelMedia, ModelMediaSource, ModelMessagePart, ModelRole, ReplyFormat,
    ToolChoice,
};
use crate::dialect::{JsonMode, ThinkingMode};
use crate::effort::ThinkingEffort;
use crate::error::ModelError;
use crate::media;
use crate::target::{ModelTarget, WireFormat};
use crate::transport::StreamMode;
use crate::wire_prefix::strip_wire_prefix;

#[derive(Debug, Serialize)]
pub(super) struct AnthropicRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata<'a>>,
    stream: bool,
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<AnthropicCacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    Any,
    None,
    Tool { name: &'a str },
}

#[derive(Debug, Serialize)]
struct Turn<'a> {
    role: ModelRole,
    content: Vec<Block<'a>>,
}

#[derive(Debug, Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<AnthropicCacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: &'a Value,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Text { media_type: &'static str, data: String },
    Url { url: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Enabled { budget_tokens: u32 },
    Adaptive,
}

#[derive(Debug, Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<ThinkingEffort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { schema: &'a Value },
}

#[derive(Debug, Serialize)]
struct Metadata<'a> {
    user_id: &'a str,
}

pub(super) fn body<'a>(
    target: &'a ModelTarget,
    request: &'a ChatRequest,
    streamed: StreamMode,
) -> Result<AnthropicRequest<'a>, ModelError> {
    let marks = AnthropicCacheMarks::plan(target, request);
    let (thinking, effort) = thinking(target, request);
    let takes_temperature = target.dialect.temperature && thinking.is_none();
    Ok(AnthropicRequest {
        model: &target.model,
        max_tokens: request.max_output_tokens,
        tools: tools(request, &marks),
        tool_choice: tool_choice(request),
        system: system(request, &marks),
        messages: messages(request, &marks)?,
        temperature: request
            .temperature_milli
            .filter(|_| takes_temperature)
            .map(|milli| f64::from(milli) / 1000.0),
        stop_sequences: &request.stop,
        thinking,
        output_config: output_config(target, request, effort),
        metadata: request.user.as_deref().map(|user_id| Metadata { user_id }),
        stream: streamed == StreamMode::Yes,
    })
}

/// The provider refuses a smaller budget.
const LEAST_THINKING: u32 = 1_024;

fn thinking(target: &ModelTarget, request: &ChatRequest) -> (Option<Thinking>, Option<ThinkingEffort>) {
    // A forced tool forbids thinking.
    let may_think = target.capabilities.thinking
        && !matches!(request.tool_choice, ToolChoice::Any | ToolChoice::Named(_));
    let Some(wanted) = request.thinking.filter(|_| may_think) else { return (None, None) };
    match target.dialect.thinking {
        // The thoughts are part of the output, so they must leave room for an answer.
        ThinkingMode::Budget => {
            let budget_tokens = wanted.budget_tokens.min(request.max_output_tokens.saturating_sub(1));
            ((budget_tokens >= LEAST_THINKING).then_some(Thinking::Enabled { budget_tokens }), None)
        }
        ThinkingMode::Effort => (Some(Thinking::Adaptive), Some(ThinkingEffort::of(wanted))),
    }
}

fn output_config<'a>(
    target: &ModelTarget,
    request: &'a ChatRequest,
    effort: Option<ThinkingEffort>,
) -> Option<OutputConfig<'a>> {
    let format = match &request.output {
        ReplyFormat::Json { schema, .. } if target.dialect.json == JsonMode::Schema => {
            Some(Format::JsonSchema { schema })
        }
        _ => None,
    };
    (effort.is_some() || format.is_some()).then_some(OutputConfig { effort, format })
}

fn tools<'a>(request: &'a ChatRequest, marks: &AnthropicCacheMarks) -> Vec<Tool<'a>> {
    let mut tools: Vec<_> = request
        .tools
        .iter()
        .map(|spec| Tool {
            name: spec.name.as_str(),
            description: &spec.description,
            input_schema: spec.model_parameters(),
            cache_control: None,
        })
        .collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = marks.after_tools();
    }
    tools
}

fn tool_choice(request: &ChatRequest) -> Option<Choice<'_>> {
    match &request.tool_choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::Any => Some(Choice::Any),
        ToolChoice::None => Some(Choice::None),
        ToolChoice::Named(name) => Some(Choice::Tool { name }),
    }
}

fn system<'a>(request: &'a ChatRequest, marks: &AnthropicCacheMarks) -> Vec<Block<'a>> {
    let blocks = request.system.iter().enumerate().filter(|(_, text)| !text.is_empty());
    let block = |(index, text): (usize, &'a String)| Block {
        content: Content::Text { text },
        cache_control: marks.after_system(index),
    };
    blocks.map(block).collect()
}

fn messages<'a>(request: &'a ChatRequest, marks: &AnthropicCacheMarks) -> Result<Vec<Turn<'a>>, ModelError> {
    let mut turns = Vec::with_capacity(request.messages.len());
    for (index, message) in request.messages.iter().enumerate() {
        let mut content = build_blocks(message)?;
        let takes_mark = |block: &&mut Block<'_>| !is_thought(&block.content);
        if let (Some(mark), Some(last)) =
            (marks.after_message(index), content.iter_mut().rev().find(takes_mark))
        {
            last.cache_control = Some(mark);
        }
        if !content.is_empty() {
            turns.push(Turn { role: message.role, content });
        }
    }
    Ok(turns)
}

const fn is_thought(content: &Content<'_>) -> bool {
    matches!(content, Content::Thinking { .. } | Content::RedactedThinking { .. })
}

/// Tool results stand first, or the provider refuses the message.
fn build_blocks(message: &ChatMessage) -> Result<Vec<Block<'_>>, ModelError> {
    let mut blocks = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        let content = convert_part(part)?;
        blocks.extend(content.map(|content| Block { content, cache_control: None }));
    }
    blocks.sort_by_key(|block| !matches!(block.content, Content::ToolResult { .. }));
    Ok(blocks)
}

/// None for what this provider did not say itself and would refuse.
fn convert_part(part: &ModelMessagePart) -> Result<Option<Content<'_>>, ModelError> {
    Ok(match part {
        ModelMessagePart::Text { text } => (!text.is_empty()).then_some(Content::Text { text }),
        ModelMessagePart::Image(media) => Some(Content::Image { source: plain_source(media) }),
        ModelMessagePart::Document(media) => {
            let text = media::text(media)?.map(|data| Source::Text { media_type: "text/plain", data });
            Some(Content::Document { source: text.unwrap_or_else(|| plain_source(media)) })
        }
        ModelMessagePart::ToolCall(call) => {
            Some(Content::ToolUse { id: sanitize_id(&call.id), name: &call.name, input: &call.arguments })
        }
        ModelMessagePart::ToolResult(result) => Some(Content::ToolResult {
            tool_use_id: sanitize_id(&result.call_id),
            content: &result.content,
            is_error: result.is_error,
        }),
        ModelMessagePart::Thinking { text, signature } => {
            let own = signature.as_deref().and_then(|sign| strip_wire_prefix(WireFormat::Anthropic, sign));
            own.map(|signature| Content::Thinking { thinking: text, signature })
        }
        ModelMessagePart::SealedThinking { data } => {
            strip_wire_prefix(WireFormat::Anthropic, data).map(|data| Content::RedactedThinking { data })
        }
        ModelMessagePart::State { .. } => None,
    })
}

fn plain_source(media: &ModelMedia) -> Source<'_> {
    match &media.source {
        ModelMediaSource::Data(data) => Source::Base64 { media_type: &media.media_type, data },
        ModelMediaSource::Url(url) => Source::Url { url },
    }
}

/// Ids that other providers made, in the letters this one takes.
fn sanitize_id(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.chars().all(fits) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.chars().map(|c| if fits(c) { c } else { '_' }).collect())
}
