//! A whole request as a cloud model may see it.

use munshi_llm::chat::{CacheBreakpoint, ReplyFormat, ToolCall, ToolResult};
use munshi_llm::{ChatMessage, ChatRequest, ModelMessagePart};
use serde_json::Value;

use super::mask::{NOTE, PiiMasker};

/// Before what only its own provider can read: it was said by a model that saw tokens, and may go back to one.
pub(super) const VEILED: &str = "veiled:";

/// The words of a schema that hold text and values; all others are the schema's own.
const SAID: &[&str] = &["enum", "const", "title", "description", "default", "examples"];

/// Those that hold schemas under names of one's own choice.
const NAMED: &[&str] = &["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// Everything in it that is said; tools stay as they are.
pub(super) fn request(mask: &mut PiiMasker<'_>, request: &ChatRequest) -> ChatRequest {
    // The system text first: so its names have the same tokens in every new conversation, and caches hold.
    let mut system: Vec<String> = request.system.iter().map(|block| mask.text(block)).collect();
    system.insert(place_of_note(request), NOTE.to_owned());
    ChatRequest {
        system,
        messages: request.messages.iter().map(|said| message(mask, said)).collect(),
        stop: request.stop.iter().map(|stop| mask.text(stop)).collect(),
        output: output(mask, &request.output),
        ..request.clone()
    }
}

/// Behind the last block that is kept in a cache, so that this beginning stays the same and its marks stay right.
fn place_of_note(request: &ChatRequest) -> usize {
    let kept = request.breakpoints.iter().filter_map(|mark| match mark {
        CacheBreakpoint::AfterSystem(index, _) => Some(index + 1),
        _ => None,
    });
    let end = request.system.len();
    kept.filter(|place| *place <= end).max().unwrap_or(end)
}

fn message(mask: &mut PiiMasker<'_>, message: &ChatMessage) -> ChatMessage {
    ChatMessage {
        role: message.role,
        parts: message.parts.iter().filter_map(|said| part(mask, said)).collect(),
    }
}

/// None for what another model keeps to itself: it may hold real values, and this one could not read it.
fn part(mask: &mut PiiMasker<'_>, part: &ModelMessagePart) -> Option<ModelMessagePart> {
    Some(match part {
        ModelMessagePart::Text { text } => ModelMessagePart::Text { text: mask.text(text) },
        ModelMessagePart::ToolCall(call) => {
            ModelMessagePart::ToolCall(ToolCall { arguments: mask.json(&call.arguments), ..call.clone() })
        }
        ModelMessagePart::ToolResult(result) => ModelMessagePart::ToolResult(ToolResult {
            content: content(mask, &result.content),
            ..result.clone()
        }),
        ModelMessagePart::Thinking { text, signature } => match signature.as_deref().and_then(unveil) {
            // Signed as it is.
            Some(own) => ModelMessagePart::Thinking { text: text.clone(), signature: Some(own) },
            None => ModelMessagePart::Thinking { text: mask.thought(text), signature: None },
        },
        ModelMessagePart::SealedThinking { data } => ModelMessagePart::SealedThinking { data: unveil(data)? },
        ModelMessagePart::State { data } => ModelMessagePart::State { data: unveil(data)? },
        ModelMessagePart::Image(_) | ModelMessagePart::Document(_) => part.clone(),
    })
}

fn unveil(text: &str) -> Option<String> {
    text.strip_prefix(VEILED).map(str::to_owned)
}

/// JSON is read first: a name may be written in it with escapes that a model reads.
fn content(mask: &mut PiiMasker<'_>, content: &str) -> String {
    let read = serde_json::from_str::<Value>(content).ok();
    let Some(value) = read.filter(|value| value.is_object() || value.is_array()) else {
        return mask.text(content);
    };
    let hidden = mask.json(&value);
    // What reading leaves out, such as a key that stands twice, is in the text still.
    if hidden == value { mask.text(content) } else { hidden.to_string() }
}

fn output(mask: &mut PiiMasker<'_>, output: &ReplyFormat) -> ReplyFormat {
    match output {
        ReplyFormat::Text => ReplyFormat::Text,
        ReplyFormat::Json { name, schema } => {
            ReplyFormat::Json { name: name.clone(), schema: self::schema(mask, schema) }
        }
    }
}

/// Keys are what a schema is made of, and stay.
fn schema(mask: &mut PiiMasker<'_>, value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let hide = |(key, value): (&String, &Value)| {
                let hidden = match (key.as_str(), value) {
                    (word, _) if SAID.contains(&word) => mask.json(value),
                    (word, Value::Object(named)) if NAMED.contains(&word) => Value::Object(
                        named.iter().map(|(name, one)| (name.clone(), schema(mask, one))).collect(),
                    ),
                    _ => schema(mask, value),
                };
                (key.clone(), hidden)
            };
            Value::Object(fields.iter().map(hide).collect())
        }
        Value::Array(items) => items.iter().map(|item| schema(mask, item)).collect(),
        _ => value.clone(),
    }
}
