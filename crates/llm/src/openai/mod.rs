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

use crate::chat::{ChatRequest, Event};
use crate::dialect::KeyPlace;
use crate::fault::Fault;
use crate::protocol::{self, Decoder, Protocol, key_header};
use crate::refusal::Refusal;
use crate::target::Target;
use crate::transport::{Call, Head, Streamed};

pub(crate) struct OpenAi;

impl Protocol for OpenAi {
    fn chat(&self, target: &Target, request: &ChatRequest, streamed: Streamed) -> Result<Call, Fault> {
        let body = request::body(target, request, streamed)?;
        let extra = request::extra(target, request);
        let headers = key_header(target, &KeyPlace::Bearer).into_iter().collect();
        Ok(Call { path: "/chat/completions".to_owned(), headers, body: protocol::encode(&body, &extra)? })
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

    fn embed(&self, target: &Target, texts: &[String]) -> Result<Call, Fault> {
        embeddings::call(target, texts)
    }

    fn embedded(&self, body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), Fault> {
        embeddings::read(body)
    }
}
