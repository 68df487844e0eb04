//! Texts to vectors, many at once.

use serde::{Deserialize, Serialize};

use super::resource;
use crate::error::ModelError;
use crate::protocol;
use crate::target::ModelTarget;

#[derive(Debug, Serialize)]
pub(super) struct GeminiEmbedRequest<'a> {
    requests: Vec<One<'a>>,
}

#[derive(Debug, Serialize)]
struct One<'a> {
    model: String,
    content: Content<'a>,
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Debug, Serialize)]
struct Part<'a> {
    text: &'a str,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    embeddings: Vec<Vector>,
    usage_metadata: Option<Counts>,
}

#[derive(Debug, Deserialize)]
struct Vector {
    values: Vec<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    prompt_token_count: Option<u64>,
}

pub(super) fn body<'a>(target: &ModelTarget, texts: &'a [String]) -> GeminiEmbedRequest<'a> {
    let one = |text: &'a String| One {
        model: resource(&target.model),
        content: Content { parts: [Part { text }] },
    };
    GeminiEmbedRequest { requests: texts.iter().map(one).collect() }
}

pub(super) fn read(body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), ModelError> {
    let answer: Answer = protocol::parse(body)?;
    let vectors = answer.embeddings.into_iter().map(|vector| vector.values).collect();
    Ok((vectors, answer.usage_metadata.and_then(|counts| counts.prompt_token_count)))
}
