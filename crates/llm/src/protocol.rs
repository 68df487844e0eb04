//! What a wire has to say for itself. Everything else (sockets, time, limits, framing) is the same for all three.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::chat::{ChatEvent, ChatRequest};
use crate::dialect::KeyHeader;
use crate::error::ModelError;
use crate::provider_error::ProviderErrorResponse;
use crate::sse::SseMessage;
use crate::target::ModelTarget;
use crate::transport::{ProviderRequest, ProviderResponseHead, StreamMode};

pub(crate) trait WireProtocol: Send + Sync {
    fn build_chat_request(
        &self,
        target: &ModelTarget,
        request: &ChatRequest,
        streamed: StreamMode,
    ) -> Result<ProviderRequest, ModelError>;

    /// Reads the answer to one streamed call.
    fn decoder(&self, head: &ProviderResponseHead) -> Box<dyn StreamDecoder>;

    /// The events that a stream of the same answer would have had.
    fn decode_reply(&self, head: &ProviderResponseHead, body: &[u8]) -> Result<Vec<ChatEvent>, ModelError>;

    /// What an answer that is no success means.
    fn classify_error(&self, refusal: &ProviderErrorResponse) -> ModelError;

    fn build_embed_request(
        &self,
        target: &ModelTarget,
        texts: &[String],
    ) -> Result<ProviderRequest, ModelError>;

    /// The vectors in the order of the texts, and the tokens where they are counted.
    fn parse_embeddings(&self, body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), ModelError>;
}

pub(crate) trait StreamDecoder: Send {
    /// Reads one message. The events before an error are in `out`.
    fn decode(&mut self, message: &SseMessage, out: &mut Vec<ChatEvent>) -> Result<DecodeStatus, ModelError>;

    /// The bytes ended cleanly before the decoder was done: a proper end on some wires, else an interruption.
    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), ModelError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodeStatus {
    More,
    /// `Finished` is out; whatever follows is not read.
    Done,
}

pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, ModelError> {
    // The position is kept, the text is not: it may quote the answer.
    serde_json::from_slice(json).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Data => "unexpected JSON structure",
            _ => "invalid JSON",
        };
        ModelError::Garbled(format!("{what} at byte {}", error.column()))
    })
}

/// A body's bytes, with the fields that the target's configuration sets.
pub(crate) fn encode(body: &impl Serialize, extra: &Map<String, Value>) -> Result<Bytes, ModelError> {
    let wrong = |error: serde_json::Error| ModelError::Rejected { status: 0, message: error.to_string() };
    if extra.is_empty() {
        return serde_json::to_vec(body).map(Bytes::from).map_err(wrong);
    }
    let mut body = serde_json::to_value(body).map_err(wrong)?;
    if let Value::Object(fields) = &mut body {
        fields.extend(extra.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    serde_json::to_vec(&body).map(Bytes::from).map_err(wrong)
}

/// The header with the key, if there is one; `documented` is the wire's own.
pub(crate) fn key_header(target: &ModelTarget, documented: &KeyHeader) -> Option<(String, String)> {
    if target.key.is_empty() {
        return None;
    }
    let place = if target.dialect.key == KeyHeader::AsDocumented { documented } else { &target.dialect.key };
    let key = target.key.reveal();
    Some(match place {
        KeyHeader::Header(name) => (name.clone(), key.to_owned()),
        KeyHeader::AsDocumented | KeyHeader::Bearer => ("authorization".to_owned(), format!("Bearer {key}")),
    })
}

/// A call's id where the server gives none: the same for the same answer, and unlike any other answer's.
pub(crate) fn call_id(answer: Option<&str>, index: usize) -> String {
    let answer: String =
        answer.unwrap_or("call").chars().filter(char::is_ascii_alphanumeric).take(30).collect();
    format!("{answer}_{index}")
}
