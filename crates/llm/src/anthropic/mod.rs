//! Anthropic's Messages. Also spoken by llama.cpp, vLLM and several gateways.
//!
//! A stream ends properly with `message_stop`. JSON schema output is `output_config.format`.

mod error;
mod marks;
mod request;
mod response;
mod stream;

use crate::chat::{ChatRequest, Event};
use crate::fault::Fault;
use crate::protocol::{Decoder, Protocol, key_header};
use crate::refusal::Refusal;
use crate::target::Target;
use crate::transport::{Call, Head, Streamed};
use crate::{dialect::KeyPlace, protocol};

pub(crate) struct Anthropic;

/// The one version there is; what is newer is asked for by fields and `anthropic-beta` headers.
const VERSION: &str = "2023-06-01";

impl Protocol for Anthropic {
    fn chat(&self, target: &Target, request: &ChatRequest, streamed: Streamed) -> Result<Call, Fault> {
        let body = protocol::encode(&request::body(target, request, streamed)?, &target.dialect.extra)?;
        let mut headers = vec![("anthropic-version".to_owned(), VERSION.to_owned())];
        headers.extend(key_header(target, &KeyPlace::Header("x-api-key".to_owned())));
        Ok(Call { path: "/messages".to_owned(), headers, body })
    }

    fn decoder(&self, head: &Head) -> Box<dyn Decoder> {
        Box::new(stream::Decoder::new(head.request_id.clone()))
    }

    fn whole(&self, head: &Head, body: &[u8]) -> Result<Vec<Event>, Fault> {
        response::whole(head, body)
    }

    fn refused(&self, refusal: &Refusal) -> Fault {
        error::refused(refusal)
    }

    fn embed(&self, _target: &Target, _texts: &[String]) -> Result<Call, Fault> {
        Err(Fault::NoTarget("Anthropic's wire has no embeddings".to_owned()))
    }

    fn embedded(&self, _body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), Fault> {
        Err(Fault::NoTarget("Anthropic's wire has no embeddings".to_owned()))
    }
}
