//! Our messages as this wire's: tool results become messages of their own, thinking and state stay home.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::chat::{ChatRequest, Media, MediaSource, Message, Part, Role, ToolResult};
use crate::fault::Fault;
use crate::media;
use crate::target::Target;

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Turn<'a> {
    System {
        content: String,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
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
pub(super) enum Content<'a> {
    Text(&'a str),
    Pieces(Vec<Piece<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Piece<'a> {
    Text { text: std::borrow::Cow<'a, str> },
    ImageUrl { image_url: Url },
    File { file: File },
}

#[derive(Debug, Serialize)]
pub(super) struct Url {
    url: String,
}

#[derive(Debug, Serialize)]
pub(super) struct File {
    filename: &'static str,
    file_data: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Call<'a> {
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

pub(super) fn turns<'a>(target: &Target, request: &'a ChatRequest) -> Result<Vec<Turn<'a>>, Fault> {
    let mut turns = Vec::with_capacity(request.messages.len() + 1);
    let system: Vec<&str> =
        request.system.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    if !system.is_empty() {
        turns.push(Turn::System { content: system.join("\n\n") });
    }
    for message in &request.messages {
        match message.role {
            Role::User => user(message, &mut turns)?,
            Role::Assistant => turns.extend(assistant(target, message)),
        }
    }
    Ok(turns)
}

fn user<'a>(message: &'a Message, turns: &mut Vec<Turn<'a>>) -> Result<(), Fault> {
    let mut pieces = Vec::new();
    for part in &message.parts {
        match part {
            Part::ToolResult(result) => turns.push(result_turn(result)),
            Part::Text { text } if !text.is_empty() => pieces.push(Piece::Text { text: text.into() }),
            Part::Image(media) => pieces.push(image(media)),
            Part::Document(media) => pieces.push(document(media)?),
            _ => {}
        }
    }
    match (pieces.as_slice(), message.parts.as_slice()) {
        ([], _) => {}
        ([Piece::Text { .. }], [Part::Text { text }]) => {
            turns.push(Turn::User { content: Content::Text(text) });
        }
        _ => turns.push(Turn::User { content: Content::Pieces(pieces) }),
    }
    Ok(())
}

/// The wire has no mark for a failed tool, so the text says it.
fn result_turn(result: &ToolResult) -> Turn<'_> {
    let content = if result.is_error { format!("ERROR: {}", result.content) } else { result.content.clone() };
    Turn::Tool { tool_call_id: &result.call_id, content }
}

fn assistant<'a>(target: &Target, message: &'a Message) -> Option<Turn<'a>> {
    let mut tool_calls = Vec::new();
    let mut thoughts = String::new();
    for part in &message.parts {
        match part {
            Part::ToolCall(call) => tool_calls.push(Call {
                id: &call.id,
                kind: "function",
                function: Function { name: &call.name, arguments: call.arguments.to_string() },
            }),
            Part::Thinking { text, .. } => thoughts.push_str(text),
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
    Some(Turn::Assistant { content: (!text.is_empty()).then_some(text), tool_calls, thinking })
}

fn image(media: &Media) -> Piece<'_> {
    let url = match &media.source {
        MediaSource::Url(url) => url.clone(),
        MediaSource::Data(_) => media::data_url(media).unwrap_or_default(),
    };
    Piece::ImageUrl { image_url: Url { url } }
}

fn document(media: &Media) -> Result<Piece<'_>, Fault> {
    if let Some(text) = media::text(media)? {
        return Ok(Piece::Text { text: text.into() });
    }
    let file_data = media::data_url(media)
        .ok_or_else(|| media::unreadable("this wire takes documents as data, not by their address"))?;
    Ok(Piece::File { file: File { filename: "document.pdf", file_data } })
}
