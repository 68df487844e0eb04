//! Google's Gemini: `generateContent` and its stream.
//!
//! A stream ends properly when the candidate's `finishReason` (or a block of the prompt) has come and then the clean
//! end of the body; the wire has no last word of its own. Schemas travel as JSON Schema (`parametersJsonSchema`,
//! `responseJsonSchema`).

mod contents;
mod embeddings;
mod error;
mod request;
mod response;
mod stream;

use crate::chat::{ChatEvent, ChatRequest};
use crate::dialect::KeyHeader;
use crate::error::ModelError;
use crate::protocol::{self, StreamDecoder, WireProtocol, key_header};
use crate::provider_error::ProviderErrorResponse;
use crate::target::ModelTarget;
use crate::transport::{ProviderRequest, ProviderResponseHead, StreamMode};

pub(crate) struct GeminiWire;

impl WireProtocol for GeminiWire {
    fn build_chat_request(
        &self,
        target: &ModelTarget,
        request: &ChatRequest,
        streamed: StreamMode,
    ) -> Result<ProviderRequest, ModelError> {
        let body = protocol::encode(&request::body(target, request)?, &target.dialect.extra)?;
        let verb = match streamed {
            StreamMode::Yes => "streamGenerateContent?alt=sse",
            StreamMode::No => "generateContent",
        };
        Ok(ProviderRequest { path: path(target, verb), headers: headers(target), body })
    }

    fn decoder(&self, head: &ProviderResponseHead) -> Box<dyn StreamDecoder> {
        Box::new(stream::GeminiDecoder::new(head.request_id.clone()))
    }

    fn decode_reply(&self, head: &ProviderResponseHead, body: &[u8]) -> Result<Vec<ChatEvent>, ModelError> {
        response::decode_reply(head, body)
    }

    fn classify_error(&self, refusal: &ProviderErrorResponse) -> ModelError {
        error::classify_response(refusal)
    }

    fn build_embed_request(
        &self,
        target: &ModelTarget,
        texts: &[String],
    ) -> Result<ProviderRequest, ModelError> {
        let body = protocol::encode(&embeddings::body(target, texts), &target.dialect.extra)?;
        Ok(ProviderRequest { path: path(target, "batchEmbedContents"), headers: headers(target), body })
    }

    fn parse_embeddings(&self, body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), ModelError> {
        embeddings::read(body)
    }
}

/// `models/gemini-…`, or a name with its own folder such as `tunedModels/…`.
fn resource(model: &str) -> String {
    if model.contains('/') { model.to_owned() } else { format!("models/{model}") }
}

fn path(target: &ModelTarget, verb: &str) -> String {
    format!("/{}:{verb}", resource(&target.model))
}

fn headers(target: &ModelTarget) -> Vec<(String, String)> {
    key_header(target, &KeyHeader::Header("x-goog-api-key".to_owned())).into_iter().collect()
}
