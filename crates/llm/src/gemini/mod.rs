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

use crate::chat::{ChatRequest, Event};
use crate::dialect::KeyPlace;
use crate::fault::Fault;
use crate::protocol::{self, Decoder, Protocol, key_header};
use crate::refusal::Refusal;
use crate::target::Target;
use crate::transport::{Call, Head, Streamed};

pub(crate) struct Gemini;

impl Protocol for Gemini {
    fn chat(&self, target: &Target, request: &ChatRequest, streamed: Streamed) -> Result<Call, Fault> {
        let body = protocol::encode(&request::body(target, request)?, &target.dialect.extra)?;
        let verb = match streamed {
            Streamed::Yes => "streamGenerateContent?alt=sse",
            Streamed::No => "generateContent",
        };
        Ok(Call { path: path(target, verb), headers: headers(target), body })
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
        let body = protocol::encode(&embeddings::body(target, texts), &target.dialect.extra)?;
        Ok(Call { path: path(target, "batchEmbedContents"), headers: headers(target), body })
    }

    fn embedded(&self, body: &[u8]) -> Result<(Vec<Vec<f32>>, Option<u64>), Fault> {
        embeddings::read(body)
    }
}

/// `models/gemini-…`, or a name with its own folder such as `tunedModels/…`.
fn resource(model: &str) -> String {
    if model.contains('/') { model.to_owned() } else { format!("models/{model}") }
}

fn path(target: &Target, verb: &str) -> String {
    format!("/{}:{verb}", resource(&target.model))
}

fn headers(target: &Target) -> Vec<(String, String)> {
    key_header(target, &KeyPlace::Header("x-goog-api-key".to_owned())).into_iter().collect()
}
