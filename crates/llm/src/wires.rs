//! The provider for every target that is reached over HTTP.

use async_trait::async_trait;

use crate::answer::{self, Unwrap};
use crate::chat::{Assembler, ChatRequest, Event, Reply};
use crate::fault::Fault;
use crate::protocol::Protocol;
use crate::provider::{ChatStream, Embedding, Provider};
use crate::reader::Reader;
use crate::refusal::{Refusal, Scrub};
use crate::sse::Parser;
use crate::target::{Target, Wire};
use crate::transport::{Answer, Call, Deadlines, Streamed, Transport};
use crate::{anthropic, gemini, openai};

/// As much of a refusal as is read.
const LONGEST_REFUSAL: usize = 64 << 10;

/// Speaks the wire that the target names.
#[derive(Clone, Debug)]
pub struct Wires {
    transport: Transport,
}

fn protocol(wire: Wire) -> Result<&'static dyn Protocol, Fault> {
    match wire {
        Wire::Anthropic => Ok(&anthropic::Anthropic),
        Wire::OpenAi => Ok(&openai::OpenAi),
        Wire::Gemini => Ok(&gemini::Gemini),
        Wire::Offline => Err(Fault::NoTarget("the offline model is not reached over a wire".to_owned())),
    }
}

impl Wires {
    pub fn new(transport: Transport) -> Self {
        Self { transport }
    }

    /// Sends and gives the answer if it is a success.
    async fn ask(&self, target: &Target, call: Call, streamed: Streamed) -> Result<Answer, Fault> {
        let deadlines = Deadlines::starting_now(target, streamed);
        let answer = self.transport.send(target, call, deadlines).await?;
        if answer.head.is_success() {
            return Ok(answer);
        }
        Err(refused(target, answer).await)
    }
}

impl Wires {
    /// The events of an answer that is asked for whole. What is wrong inside it is for the reader to find, who then also
    /// knows what it cost.
    async fn whole(&self, target: &Target, request: &ChatRequest) -> Result<Vec<Event>, Fault> {
        let protocol = protocol(target.wire)?;
        let asked = answer::prepare(target, request);
        let call = protocol.chat(target, &asked, Streamed::No)?;
        let scrub = Scrub::new(target, &call.body);
        let outcome = async {
            let Answer { head, body } = self.ask(target, call, Streamed::No).await?;
            let events = protocol.whole(&head, &body.all().await?)?;
            let mut unwrap = Unwrap::new(target, request);
            let limits = (!head.limits.is_empty()).then_some(Event::Limits(head.limits));
            Ok(limits.into_iter().chain(events.into_iter().filter_map(|event| unwrap.event(event))).collect())
        };
        outcome.await.map_err(|fault| scrub.clean(fault))
    }
}

async fn refused(target: &Target, answer: Answer) -> Fault {
    let body = answer.body.beginning(LONGEST_REFUSAL).await;
    let refusal = Refusal::new(&answer.head, &body);
    protocol(target.wire).map_or_else(|fault| fault, |protocol| protocol.refused(&refusal))
}

/// A success that is no stream: some servers say errors this way, the rest is a stranger's page.
async fn not_a_stream(target: &Target, answer: Answer) -> Fault {
    let found: String = answer.head.content_type.chars().take(60).collect();
    let body = answer.body.beginning(LONGEST_REFUSAL).await;
    let refusal = Refusal::new(&answer.head, &body);
    match (refusal.body.get("error"), protocol(target.wire)) {
        (Some(error), Ok(protocol)) => {
            // Some give the status they should have answered with.
            let code = error.get("code").and_then(serde_json::Value::as_u64);
            let code = code.and_then(|code| u16::try_from(code).ok());
            let status = code.filter(|code| (400..600).contains(code)).unwrap_or(500);
            protocol.refused(&Refusal { status, ..refusal })
        }
        _ => Fault::Garbled(format!("`{found}` instead of an event stream")),
    }
}

#[async_trait]
impl Provider for Wires {
    async fn stream(&self, target: &Target, request: &ChatRequest) -> Result<ChatStream, Fault> {
        if !target.dialect.stream {
            let events = self.whole(target, request).await?;
            return Ok(Box::pin(futures_util::stream::iter(events.into_iter().map(Ok))));
        }
        let protocol = protocol(target.wire)?;
        let asked = answer::prepare(target, request);
        let call = protocol.chat(target, &asked, Streamed::Yes)?;
        let scrub = Scrub::new(target, &call.body);
        let answer = self.ask(target, call, Streamed::Yes).await.map_err(|fault| scrub.clean(fault))?;
        if answer.head.content_type != "text/event-stream" {
            return Err(scrub.clean(not_a_stream(target, answer).await));
        }
        let Answer { head, body } = answer;
        let parser = Parser::new(self.transport.limits().event);
        let unwrap = Unwrap::new(target, request);
        let mut reader = Reader::new(body, parser, protocol.decoder(&head), unwrap, scrub.light());
        if !head.limits.is_empty() {
            reader.announce(Event::Limits(head.limits));
        }
        Ok(reader.into_stream())
    }

    /// Asks without streaming, so the answer is all there or not at all.
    async fn complete(&self, target: &Target, request: &ChatRequest) -> Result<Reply, Fault> {
        let mut assembler = Assembler::default();
        for event in self.whole(target, request).await? {
            assembler.take(&event)?;
        }
        assembler.finish()
    }

    async fn embed(&self, target: &Target, texts: &[String]) -> Result<Embedding, Fault> {
        let protocol = protocol(target.wire)?;
        let call = protocol.embed(target, texts)?;
        let scrub = Scrub::new(target, &call.body);
        let outcome = async {
            let answer = self.ask(target, call, Streamed::No).await?;
            let (vectors, input_tokens) = protocol.embedded(&answer.body.all().await?)?;
            checked(vectors, texts.len(), input_tokens)
        };
        outcome.await.map_err(|fault| scrub.clean(fault))
    }
}

fn checked(vectors: Vec<Vec<f32>>, texts: usize, input_tokens: Option<u64>) -> Result<Embedding, Fault> {
    let dimension = vectors.first().map_or(0, Vec::len);
    if vectors.len() != texts {
        return Err(Fault::Garbled(format!("{} vectors for {texts} texts", vectors.len())));
    }
    if vectors.iter().any(|vector| vector.len() != dimension || dimension == 0) {
        return Err(Fault::Garbled("vectors of different lengths".to_owned()));
    }
    Ok(Embedding { vectors, dimension, input_tokens })
}
