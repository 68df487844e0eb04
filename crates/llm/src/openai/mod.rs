//! OpenAI's chat completions, and so most servers there are: Azure, Groq, DeepSeek, Mistral, Sarvam, Ollama, vLLM,
//! llama.cpp. How they differ is [`crate::dialect`].
//!
//! A stream ends properly when the choice's `finish_reason` has come and then `[DONE]`, or the clean end of the body,
//! since some compatible servers leave `[DONE]` out. `[DONE]` alone is not enough: it says that the server stops
//! talking, not that the model had finished.

mod embeddings;
mod error;
mod messages;
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

pub(crate) struct OpenAiWire;

impl WireProtocol for OpenAiWire {
    fn build_chat_request(
        &self,
        target: &ModelTarget,
        request: &ChatRequest,
        streamed: StreamMode,
    ) -> Result<ProviderRequest, ModelError> {
        let body = request::body(target, request, streamed)?;
        let extra = request::extra(target, request);
        let headers = key_header(target, &KeyHeader::Bearer).into_iter().collect();
        Ok(ProviderRequest {
            path: "/chat/completions".to_owned(),
            headers,
            body: protocol::encode(&body, &extra)?,
        })
    }

    fn decoder(&self, head: &ProviderResponseHead) -> Box<dyn StreamDecoder> {
        Box::new(stream::OpenAiDecoder::new(head.request_id.clone()))
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
        embeddings::build_request(target, texts)
    }

    fn parse_embeddings(&self, body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), ModelError> {
        embeddings::read(body)
    }
}
