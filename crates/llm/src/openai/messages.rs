//! Our messages as this wire's: tool results become messages of their own, thinking and state stay home.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::chat::{
    ChatMessage, ChatRequest, ModelMedia, ModelMediaSource, ModelMessagePart, ModelRole, ToolResult,
};
use crate::error::ModelError;
use crate::media;
use crate::target::ModelTarget;

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum OpenAiMessage<'a> {
    System {
        content: String,
    },
    User {
        content: OpenAiContent<'a>,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<OpenAiToolCall<'a>>,
        /// Thinking, under the name the target's dialect gives it.
        #[serde(flatten)]
        thinking: Map<String, Value>,
    },
    Tool {
        tool_call_id: &'a str,
        content: String,
    },
}

/// A plain string where it can be: some small servers read nothing else.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum OpenAiContent<'a> {
    Text(&'a str),
    Pieces(Vec<OpenAiContentPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OpenAiContentPart<'a> {
    Text { text: std::borrow::Cow<'a, str> },
    ImageUrl { image_url: OpenAiImageUrl },
    File { file: OpenAiFile },
}

#[derive(Debug, Serialize)]
pub(super) struct OpenAiImageUrl {
    url: String,
}

#[derive(Debug, Serialize)]
pub(super) struct OpenAiFile {
    filename: &'static str,
    file_data: String,
}

#[derive(Debug, Serialize)]
pub(super) struct OpenAiToolCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: String,
}

pub(super) fn build_messages<'a>(
    target: &ModelTarget,
    request: &'a ChatRequest,
) -> Result<Vec<OpenAiMessage<'a>>, ModelError> {
    let mut turns = Vec::with_capacity(request.messages.len() + 1);
    let system: Vec<&str> =
        request.system.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    if !system.is_empty() {
        turns.push(OpenAiMessage::System { content: system.join("\n\n") });
    }
    for message in &request.messages {
        match message.role {
            ModelRole::User => push_user_messages(message, &mut turns)?,
            ModelRole::Assistant => turns.extend(assistant(target, message)),
        }
    }
    Ok(turns)
}

fn push_user_messages<'a>(
    message: &'a ChatMessage,
    turns: &mut Vec<OpenAiMessage<'a>>,
) -> Result<(), ModelError> {
    let mut pieces = Vec::new();
    for part in &message.parts {
        match part {
            ModelMessagePart::ToolResult(result) => turns.push(result_turn(result)),
            ModelMessagePart::Text { text } if !text.is_empty() => {
                pieces.push(OpenAiContentPart::Text { text: text.into() });
            }
            ModelMessagePart::Image(media) => pieces.push(image(media)),
            ModelMessagePart::Document(media) => pieces.push(document(media)?),
            _ => {}
        }
    }
    match (pieces.as_slice(), message.parts.as_slice()) {
        ([], _) => {}
        ([OpenAiContentPart::Text { .. }], [ModelMessagePart::Text { text }]) => {
            turns.push(OpenAiMessage::User { content: OpenAiContent::Text(text) });
        }
        _ => turns.push(OpenAiMessage::User { content: OpenAiContent::Pieces(pieces) }),
    }
    Ok(())
}

/// The wire has no mark for a failed tool, so the text says it.
fn result_turn(result: &ToolResult) -> OpenAiMessage<'_> {
    let content = if result.is_error { format!("ERROR: {}", result.content) } else { result.content.clone() };
    OpenAiMessage::Tool { tool_call_id: &result.call_id, content }
}

fn assistant<'a>(target: &ModelTarget, message: &'a ChatMessage) -> Option<OpenAiMessage<'a>> {
    let mut tool_calls = Vec::new();
    let mut thoughts = String::new();
    for part in &message.parts {
        match part {
            ModelMessagePart::ToolCall(call) => tool_calls.push(OpenAiToolCall {
                id: &call.id,
                kind: "function",
                function: Function { name: &call.name, arguments: call.arguments.to_string() },
            }),
            ModelMessagePart::Thinking { text, .. } => thoughts.push_str(text),
            _ => {}
        }
    }
    let text = message.text();
    if text.is_empty() && tool_calls.is_empty() {
        return None;
    }
    let mut thinking = Map::new();
    if let Some(field) = target.dialect.thinking_field.as_ref().filter(|_| !thoughts.is_empty()) {
        thinking.insert(field.clone(), Value::String(thoughts));
    }
    Some(OpenAiMessage::Assistant { content: (!text.is_empty()).then_some(text), tool_calls, thinking })
}

fn image(media: &ModelMedia) -> OpenAiContentPart<'_> {
    let url = match &media.source {
        ModelMediaSource::Url(url) => url.clone(),
        ModelMediaSource::Data(_) => media::data_url(media).unwrap_or_default(),
    };
    OpenAiContentPart::ImageUrl { image_url: OpenAiImageUrl { url } }
}

fn document(media: &ModelMedia) -> Result<OpenAiContentPart<'_>, ModelError> {
    if let Some(text) = media::text(media)? {
        return Ok(OpenAiContentPart::Text { text: text.into() });
    }
    let file_data = media::data_url(media)
        .ok_or_else(|| media::document_error("this API takes documents inline, not by URL"))?;
    Ok(OpenAiContentPart::File { file: OpenAiFile { filename: "document.pdf", file_data } })
}
