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
pub(super) fn mask_request(mask: &mut PiiMasker<'_>, request: &ChatRequest) -> ChatRequest {
    // The system text first: so its names have the same tokens in every new conversation, and caches hold.
    let mut system: Vec<String> = request.system.iter().map(|block| mask.mask_text(block)).collect();
    system.insert(note_position(request), NOTE.to_owned());
    ChatRequest {
        system,
        messages: request.messages.iter().map(|said| mask_message(mask, said)).collect(),
        stop: request.stop.iter().map(|stop| mask.mask_text(stop)).collect(),
        output: mask_output(mask, &request.output),
        ..request.clone()
    }
}

/// Behind the last block that is kept in a cache, so that this beginning stays the same and its marks stay right.
fn note_position(request: &ChatRequest) -> usize {
    let kept = request.breakpoints.iter().filter_map(|mark| match mark {
        CacheBreakpoint::AfterSystem(index, _) => Some(index + 1),
        _ => None,
    });
    let end = request.system.len();
    kept.filter(|place| *place <= end).max().unwrap_or(end)
}

fn mask_message(mask: &mut PiiMasker<'_>, message: &ChatMessage) -> ChatMessage {
    ChatMessage {
        role: message.role,
        parts: message.parts.iter().filter_map(|said| mask_part(mask, said)).collect(),
    }
}

/// None for what another model keeps to itself: it may hold real values, and this one could not read it.
fn mask_part(mask: &mut PiiMasker<'_>, part: &ModelMessagePart) -> Option<ModelMessagePart> {
    Some(match part {
        ModelMessagePart::Text { text } => ModelMessagePart::Text { text: mask.mask_text(text) },
        ModelMessagePart::ToolCall(call) => ModelMessagePart::ToolCall(ToolCall {
            arguments: mask.mask_json(&call.arguments),
            ..call.clone()
        }),
        ModelMessagePart::ToolResult(result) => ModelMessagePart::ToolResult(ToolResult {
            content: mask_content(mask, &result.content),
            ..result.clone()
        }),
        ModelMessagePart::Thinking { text, signature } => {
            match signature.as_deref().and_then(strip_veil_prefix) {
                // Signed as it is.
                Some(own) => ModelMessagePart::Thinking { text: text.clone(), signature: Some(own) },
                None => ModelMessagePart::Thinking { text: mask.mask_thought(text), signature: None },
            }
        }
        ModelMessagePart::SealedThinking { data } => {
            ModelMessagePart::SealedThinking { data: strip_veil_prefix(data)? }
        }
        ModelMessagePart::State { data } => ModelMessagePart::State { data: strip_veil_prefix(data)? },
        ModelMessagePart::Image(_) | ModelMessagePart::Document(_) => part.clone(),
    })
}

fn strip_veil_prefix(text: &str) -> Option<String> {
    text.strip_prefix(VEILED).map(str::to_owned)
}

/// JSON is read first: a name may be written in it with escapes that a model reads.
fn mask_content(mask: &mut PiiMasker<'_>, content: &str) -> String {
    let read = serde_json::from_str::<Value>(content).ok();
    let Some(value) = read.filter(|value| value.is_object() || value.is_array()) else {
        return mask.mask_text(content);
    };
    let hidden = mask.mask_json(&value);
    // What reading leaves out, such as a key that stands twice, is in the text still.
    if hidden == value { mask.mask_text(content) } else { hidden.to_string() }
}

fn mask_output(mask: &mut PiiMasker<'_>, output: &ReplyFormat) -> ReplyFormat {
    match output {
        ReplyFormat::Text => ReplyFormat::Text,
        ReplyFormat::Json { name, schema } => {
            ReplyFormat::Json { name: name.clone(), schema: self::mask_schema(mask, schema) }
        }
    }
}

/// Keys are what a schema is made of, and stay.
fn mask_schema(mask: &mut PiiMasker<'_>, value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let hide = |(key, value): (&String, &Value)| {
                let hidden = match (key.as_str(), value) {
                    (word, _) if SAID.contains(&word) => mask.mask_json(value),
                    (word, Value::Object(named)) if NAMED.contains(&word) => Value::Object(
                        named.iter().map(|(name, one)| (name.clone(), mask_schema(mask, one))).collect(),
                    ),
                    _ => mask_schema(mask, value),
                };
                (key.clone(), hidden)
            };
            Value::Object(fields.iter().map(hide).collect())
        }
        Value::Array(items) => items.iter().map(|item| mask_schema(mask, item)).collect(),
        _ => value.clone(),
    }
}
