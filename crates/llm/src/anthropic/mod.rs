//! Anthropic's Messages. Also spoken by llama.cpp, vLLM and several gateways.
//!
//! A stream ends properly with `message_stop`. JSON schema output is `output_config.format`.

mod error;
mod marks;
mod request;
mod response;
mod stream;

use crate::chat::{ChatEvent, ChatRequest};
use crate::fault::ModelError;
use crate::protocol::{StreamDecoder, WireProtocol, key_header};
use crate::refusal::ProviderErrorResponse;
use crate::target::ModelTarget;
use crate::transport::{ProviderRequest, ProviderResponseHead, StreamMode};
use crate::{dialect::KeyHeader, protocol};

pub(crate) struct AnthropicWire;

/// The one version there is; what is newer is asked for by fields and `anthropic-beta` headers.
const VERSION: &str = "2023-06-01";

impl WireProtocol for AnthropicWire {
    fn chat(
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

    fn whole(&self, head: &ProviderResponseHead, body: &[u8]) -> Result<Vec<ChatEvent>, ModelError> {
        response::whole(head, body)
    }

    fn refused(&self, refusal: &ProviderErrorResponse) -> ModelError {
        error::refused(refusal)
    }

    fn embed(&self, _target: &ModelTarget, _texts: &[String]) -> Result<ProviderRequest, ModelError> {
        Err(ModelError::NoTarget("Anthropic's wire has no embeddings".to_owned()))
    }

    fn embedded(&self, _body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), ModelError> {
        Err(ModelError::NoTarget("Anthropic's wire has no embeddings".to_owned()))
    }
}
