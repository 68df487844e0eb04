//! Our messages as Gemini's contents.

use serde::Serialize;
use serde_json::Value;

use crate::chat::{ChatRequest, Media, MediaSource, Message, Part, Role, ToolResult};
use crate::seal::unseal;
use crate::target::{Target, Wire};

#[derive(Debug, Serialize)]
pub(super) struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    pub parts: Vec<Piece<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Piece<'a> {
    #[serde(flatten)]
    pub data: Data<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Data<'a> {
    Text(&'a str),
    #[serde(rename = "inlineData")]
    Inline(Blob<'a>),
    #[serde(rename = "fileData")]
    File(File<'a>),
    FunctionCall(Call<'a>),
    FunctionResponse(Response<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct File<'a> {
    mime_type: &'a str,
    file_uri: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct Call<'a> {
    id: &'a str,
    name: &'a str,
    args: &'a Value,
}

#[derive(Debug, Serialize)]
pub(super) struct Response<'a> {
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

pub(super) fn contents<'a>(target: &'a Target, request: &'a ChatRequest) -> Vec<Content<'a>> {
    let each = request.messages.iter().map(|message| match message.role {
        Role::User => Content { role: Some("user"), parts: user(message) },
        Role::Assistant => Content { role: Some("model"), parts: model(target, message) },
    });
    each.filter(|content| !content.parts.is_empty()).collect()
}

pub(super) fn plain(data: Data<'_>) -> Piece<'_> {
    Piece { data, thought_signature: None }
}

/// Tool results stand first, right after the calls they answer.
fn user(message: &Message) -> Vec<Piece<'_>> {
    let mut pieces: Vec<_> = message.parts.iter().filter_map(sent_by_user).map(plain).collect();
    pieces.sort_by_key(|piece| !matches!(piece.data, Data::FunctionResponse(_)));
    pieces
}

fn sent_by_user(part: &Part) -> Option<Data<'_>> {
    match part {
        Part::Text { text } => (!text.is_empty()).then_some(Data::Text(text)),
        Part::Image(media) | Part::Document(media) => Some(attachment(media)),
        Part::ToolResult(result) => Some(Data::FunctionResponse(response(result))),
        _ => None,
    }
}

fn attachment(media: &Media) -> Data<'_> {
    let mime_type = &media.media_type;
    match &media.source {
        MediaSource::Data(data) => Data::Inline(Blob { mime_type, data }),
        MediaSource::Url(file_uri) => Data::File(File { mime_type, file_uri }),
    }
}

fn response(result: &ToolResult) -> Response<'_> {
    let content = &result.content;
    let response = if result.is_error { Outcome::Error(content) } else { Outcome::Output(content) };
    Response { id: &result.call_id, name: &result.name, response }
}

/// A signature belongs to the part after it, exactly that part, as it came; thoughts themselves stay home.
fn model<'a>(target: &'a Target, message: &'a Message) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut signature: Option<&str> = None;
    let mut has_calls = false;
    for part in &message.parts {
        match part {
            Part::Thinking { signature: Some(sealed), .. } => {
                if let Some(own) = unseal(Wire::Gemini, sealed) {
                    pieces.extend(signature.replace(own).map(alone));
                }
            }
            Part::Text { text } if !text.is_empty() => {
                pieces.push(Piece { data: Data::Text(text), thought_signature: signature.take() });
            }
            Part::ToolCall(call) => {
                // Of calls made together only the first is signed.
                let stand_in = target.dialect.unsigned_call.as_deref().filter(|_| !has_calls);
                has_calls = true;
                let data = Data::FunctionCall(Call { id: &call.id, name: &call.name, args: &call.arguments });
                pieces.push(Piece { data, thought_signature: signature.take().or(stand_in) });
            }
            _ => {}
        }
    }
    pieces.extend(signature.map(alone));
    pieces
}

fn alone(signature: &str) -> Piece<'_> {
    Piece { data: Data::Text(""), thought_signature: Some(signature) }
}
