//! Texts to vectors.

use serde::{Deserialize, Serialize};

use crate::dialect::KeyHeader;
use crate::error::ModelError;
use crate::protocol::{self, key_header};
use crate::target::ModelTarget;
use crate::transport::ProviderRequest;

#[derive(Debug, Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Debug, Deserialize)]
struct Answer {
    data: Vec<Row>,
    usage: Option<Counts>,
}

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(default)]
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Debug, Deserialize)]
struct Counts {
    prompt_tokens: Option<u64>,
}

pub(super) fn build_request(target: &ModelTarget, texts: &[String]) -> Result<ProviderRequest, ModelError> {
    let body = Body { model: &target.model, input: texts, encoding_format: "float" };
    let headers = key_header(target, &KeyHeader::Bearer).into_iter().collect();
    let body = protocol::encode(&body, &target.dialect.extra)?;
    Ok(ProviderRequest { path: "/embeddings".to_owned(), headers, body })
}

pub(super) fn read(body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), ModelError> {
    let mut answer: Answer = protocol::parse(body)?;
    answer.data.sort_by_key(|row| row.index);
    let vectors = answer.data.into_iter().map(|row| row.embedding).collect();
    Ok((vectors, answer.usage.and_then(|counts| counts.prompt_tokens)))
}
