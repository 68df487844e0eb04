//! What a wire has to say for itself. Everything else (sockets, time, limits, framing) is the same for all three.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::chat::{ChatRequest, Event};
use crate::dialect::KeyPlace;
use crate::fault::Fault;
use crate::refusal::Refusal;
use crate::sse::Message;
use crate::target::Target;
use crate::transport::{Call, Head, Streamed};

pub(crate) trait Protocol: Send + Sync {
    fn chat(&self, target: &Target, request: &ChatRequest, streamed: Streamed) -> Result<Call, Fault>;

    /// Reads the answer to one streamed call.
    fn decoder(&self, head: &Head) -> Box<dyn Decoder>;

    /// The events that a stream of the same answer would have had.
    fn whole(&self, head: &Head, body: &[u8]) -> Result<Vec<Event>, Fault>;

    /// What an answer that is no success means.
    fn refused(&self, refusal: &Refusal) -> Fault;

    fn embed(&self, target: &Target, texts: &[String]) -> Result<Call, Fault>;

    /// The vectors in the order of the texts, and the tokens where they are counted.
    fn embedded(&self, body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), Fault>;
}

pub(crate) trait Decoder: Send {
    /// Reads one message. The events before an error are in `out`.
    fn take(&mut self, message: &Message, out: &mut Vec<Event>) -> Result<Flow, Fault>;

    /// The bytes ended cleanly before the decoder was done: a proper end on some wires, else an interruption.
    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    /// `Finished` is out; whatever follows is not read.
    Done,
}

pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, Fault> {
    // The position is kept, the text is not: it may quote the answer.
    serde_json::from_slice(json).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Data => "JSON of another form than documented",
            _ => "no JSON",
        };
        Fault::Garbled(format!("{what} at byte {}", error.column()))
    })
}

/// A body's bytes, with the fields that the target's configuration sets.
pub(crate) fn encode(body: &impl Serialize, extra: &Map<String, Value>) -> Result<Bytes, Fault> {
    let wrong = |error: serde_json::Error| Fault::Rejected { status: 0, message: error.to_string() };
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
pub(crate) fn key_header(target: &Target, documented: &KeyPlace) -> Option<(String, String)> {
    if target.key.is_empty() {
        return None;
    }
    let place = if target.dialect.key == KeyPlace::AsDocumented { documented } else { &target.dialect.key };
    let key = target.key.reveal();
    Some(match place {
        KeyPlace::Header(name) => (name.clone(), key.to_owned()),
        KeyPlace::AsDocumented | KeyPlace::Bearer => ("authorization".to_owned(), format!("Bearer {key}")),
    })
}

/// A call's id where the server gives none: the same for the same answer, and unlike any other answer's.
pub(crate) fn call_id(answer: Option<&str>, index: usize) -> String {
    let answer: String =
        answer.unwrap_or("call").chars().filter(char::is_ascii_alphanumeric).take(30).collect();
    format!("{answer}_{index}")
}
