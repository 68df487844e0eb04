//! Anthropic's Messages. Also spoken by llama.cpp, vLLM and several gateways.
//!
//! A stream ends properly with `message_stop`. JSON schema output is `output_config.format`.

mod cache_control;
mod error;
mod request;
mod response;
mod stream;

use crate::chat::{ChatEvent, ChatRequest};
use crate::error::ModelError;
use crate::protocol::{StreamDecoder, WireProtocol, key_header};
use crate::provider_error::ProviderErrorResponse;
use crate::target::ModelTarget;
use crate::transport::{ProviderRequest, ProviderResponseHead, StreamMode};
use crate::{dialect::KeyHeader, protocol};

pub(crate) struct AnthropicWire;

/// The one version there is; what is newer is asked for by fields and `anthropic-beta` headers.
const VERSION: &str = "2023-06-01";

impl WireProtocol for AnthropicWire {
    fn build_chat_request(
        &self,
        target: &ModelTarget,
        request: &ChatRequest,
        streamed: StreamMode,
    ) -> Result<ProviderRequest, ModelError> {
        let body = protocol::encode(&request::body(target, request, streamed)?, &target.dialect.extra)?;
        let mut headers = vec![("anthropic-version".to_owned(), VERSION.to_owned())];
        headers.extend(key_header(target, &KeyHeader::Header("x-api-key".to_owned())));
        Ok(ProviderRequest { path: "/messages".to_owned(), headers, body })
    }

    fn decoder(&self, head: &ProviderResponseHead) -> Box<dyn StreamDecoder> {
        Box::new(stream::AnthropicDecoder::new(head.request_id.clone()))
    }

    fn decode_reply(&self, head: &ProviderResponseHead, body: &[u8]) -> Result<Vec<ChatEvent>, ModelError> {
        response::decode_reply(head, body)
    }

    fn classify_error(&self, refusal: &ProviderErrorResponse) -> ModelError {
        error::classify_response(refusal)
    }

    fn build_embed_request(
        &self,
        _target: &ModelTarget,
        _texts: &[String],
    ) -> Result<ProviderRequest, ModelError> {
        Err(ModelError::NoTarget("the Anthropic API has no embeddings endpoint".to_owned()))
    }

    fn parse_embeddings(&self, _body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), ModelError> {
        Err(ModelError::NoTarget("the Anthropic API has no embeddings endpoint".to_owned()))
    }
}
