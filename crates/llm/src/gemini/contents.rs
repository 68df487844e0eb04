//! Our messages as Gemini's contents.

use serde::Serialize;
use serde_json::Value;

use crate::chat::{
    ChatMessage, ChatRequest, ModelMedia, ModelMediaSource, ModelMessagePart, ModelRole, ToolResult,
};
use crate::target::{ModelTarget, WireFormat};
use crate::wire_prefix::strip_wire_prefix;

#[derive(Debug, Serialize)]
pub(super) struct GeminiContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    pub parts: Vec<GeminiPart<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiPart<'a> {
    #[serde(flatten)]
    pub data: GeminiPartData<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum GeminiPartData<'a> {
    Text(&'a str),
    #[serde(rename = "inlineData")]
    Inline(GeminiBlob<'a>),
    #[serde(rename = "fileData")]
    File(GeminiFile<'a>),
    FunctionCall(GeminiFunctionCall<'a>),
    FunctionResponse(GeminiFunctionResponse<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiBlob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiFile<'a> {
    mime_type: &'a str,
    file_uri: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct GeminiFunctionCall<'a> {
    id: &'a str,
    name: &'a str,
    args: &'a Value,
}

#[derive(Debug, Serialize)]
pub(super) struct GeminiFunctionResponse<'a> {
    id: &'a str,
    name: &'a str,
    response: Outcome<'a>,
}

/// The two keys that the documentation names for a tool's result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Outcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

pub(super) fn contents<'a>(target: &'a ModelTarget, request: &'a ChatRequest) -> Vec<GeminiContent<'a>> {
    let each = request.messages.iter().map(|message| match message.role {
        ModelRole::User => GeminiContent { role: Some("user"), parts: build_user_parts(message) },
        ModelRole::Assistant => {
            GeminiContent { role: Some("model"), parts: build_model_parts(target, message) }
        }
    });
    each.filter(|content| !content.parts.is_empty()).collect()
}

pub(super) fn unsigned_part(data: GeminiPartData<'_>) -> GeminiPart<'_> {
    GeminiPart { data, thought_signature: None }
}

/// Tool results stand first, right after the calls they answer.
fn build_user_parts(message: &ChatMessage) -> Vec<GeminiPart<'_>> {
    let mut pieces: Vec<_> = message.parts.iter().filter_map(convert_user_part).map(unsigned_part).collect();
    pieces.sort_by_key(|piece| !matches!(piece.data, GeminiPartData::FunctionResponse(_)));
    pieces
}

fn convert_user_part(part: &ModelMessagePart) -> Option<GeminiPartData<'_>> {
    match part {
        ModelMessagePart::Text { text } => (!text.is_empty()).then_some(GeminiPartData::Text(text)),
        ModelMessagePart::Image(media) | ModelMessagePart::Document(media) => Some(attachment(media)),
        ModelMessagePart::ToolResult(result) => Some(GeminiPartData::FunctionResponse(response(result))),
        _ => None,
    }
}

fn attachment(media: &ModelMedia) -> GeminiPartData<'_> {
    let mime_type = &media.media_type;
    match &media.source {
        ModelMediaSource::Data(data) => GeminiPartData::Inline(GeminiBlob { mime_type, data }),
        ModelMediaSource::Url(file_uri) => GeminiPartData::File(GeminiFile { mime_type, file_uri }),
    }
}

fn response(result: &ToolResult) -> GeminiFunctionResponse<'_> {
    let content = &result.content;
    let response = if result.is_error { Outcome::Error(content) } else { Outcome::Output(content) };
    GeminiFunctionResponse { id: &result.call_id, name: &result.name, response }
}

/// A signature belongs to the part after it, exactly that part, as it came; thoughts themselves stay home.
fn build_model_parts<'a>(target: &'a ModelTarget, message: &'a ChatMessage) -> Vec<GeminiPart<'a>> {
    let mut pieces: Vec<GeminiPart<'a>> = Vec::new();
    let mut signature: Option<&str> = None;
    let mut has_calls = false;
    for part in &message.parts {
        match part {
            ModelMessagePart::Thinking { signature: Some(sealed), .. } => {
                if let Some(own) = strip_wire_prefix(WireFormat::Gemini, sealed) {
                    pieces.extend(signature.replace(own).map(signature_part));
                }
            }
            ModelMessagePart::Text { text } if !text.is_empty() => {
                pieces.push(GeminiPart {
                    data: GeminiPartData::Text(text),
                    thought_signature: signature.take(),
                });
            }
            ModelMessagePart::ToolCall(call) => {
                // Of calls made together only the first is signed.
                let stand_in = target.dialect.unsigned_call.as_deref().filter(|_| !has_calls);
                has_calls = true;
                let data = GeminiPartData::FunctionCall(GeminiFunctionCall {
                    id: &call.id,
                    name: &call.name,
                    args: &call.arguments,
                });
                pieces.push(GeminiPart { data, thought_signature: signature.take().or(stand_in) });
            }
            _ => {}
        }
    }
    pieces.extend(signature.map(signature_part));
    pieces
}

fn signature_part(signature: &str) -> GeminiPart<'_> {
    GeminiPart { data: GeminiPartData::Text(""), thought_signature: Some(signature) }
}
