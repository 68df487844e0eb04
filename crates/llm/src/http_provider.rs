//! The provider for every target that is reached over HTTP.

use async_trait::async_trait;

use crate::chat::{ChatEvent, ChatReply, ChatRequest, ModelReplyAssembler};
use crate::error::ModelError;
use crate::event_reader::ChatEventReader;
use crate::json_output::{self, AnswerToolUnwrapper};
use crate::protocol::WireProtocol;
use crate::provider::{ChatStream, Embedding, Provider};
use crate::provider_error::{ErrorScrubber, ProviderErrorResponse};
use crate::sse::SseParser;
use crate::target::{ModelTarget, WireFormat};
use crate::transport::{ProviderRequest, ProviderResponse, ResponseDeadlines, StreamMode, Transport};
use crate::{anthropic, gemini, openai};

/// As much of a refusal as is read.
const LONGEST_REFUSAL: usize = 64 << 10;

/// Speaks the wire that the target names.
#[derive(Clone, Debug)]
pub struct HttpProvider {
    transport: Transport,
}

fn protocol(wire: WireFormat) -> Result<&'static dyn WireProtocol, ModelError> {
    match wire {
        WireFormat::Anthropic => Ok(&anthropic::AnthropicWire),
        WireFormat::OpenAi => Ok(&openai::OpenAiWire),
        WireFormat::Gemini => Ok(&gemini::GeminiWire),
        WireFormat::Offline => Err(ModelError::NoTarget("the offline model has no network API".to_owned())),
    }
}

impl HttpProvider {
    pub fn new(transport: Transport) -> Self {
        Self { transport }
    }

    /// Sends and gives the answer if it is a success.
    async fn send_request(
        &self,
        target: &ModelTarget,
        call: ProviderRequest,
        streamed: StreamMode,
    ) -> Result<ProviderResponse, ModelError> {
        let deadlines = ResponseDeadlines::starting_now(target, streamed);
        let answer = self.transport.send(target, call, deadlines).await?;
        if answer.head.is_success() {
            return Ok(answer);
        }
        Err(classify_error_response(target, answer).await)
    }
}

impl HttpProvider {
    /// The events of an answer that is asked for whole. What is wrong inside it is for the reader to find, who then also
    /// knows what it cost.
    async fn fetch_events(
        &self,
        target: &ModelTarget,
        request: &ChatRequest,
    ) -> Result<Vec<ChatEvent>, ModelError> {
        let protocol = protocol(target.wire)?;
        let asked = json_output::prepare_request(target, request);
        let call = protocol.build_chat_request(target, &asked, StreamMode::No)?;
        let scrub = ErrorScrubber::new(target, &call.body);
        let outcome = async {
            let ProviderResponse { head, body } = self.send_request(target, call, StreamMode::No).await?;
            let events = protocol.decode_reply(&head, &body.read_all().await?)?;
            let mut unwrap = AnswerToolUnwrapper::new(target, request);
            let limits = (!head.limits.is_empty()).then_some(ChatEvent::Limits(head.limits));
            Ok(limits
                .into_iter()
                .chain(events.into_iter().filter_map(|event| unwrap.unwrap_event(event)))
                .collect())
        };
        outcome.await.map_err(|fault| scrub.redact(fault))
    }
}

async fn classify_error_response(target: &ModelTarget, answer: ProviderResponse) -> ModelError {
    let body = answer.body.read_beginning(LONGEST_REFUSAL).await;
    let refusal = ProviderErrorResponse::new(&answer.head, &body);
    protocol(target.wire).map_or_else(|fault| fault, |protocol| protocol.classify_error(&refusal))
}

/// A success that is no stream: some servers say errors this way, the rest is a stranger's page.
async fn classify_non_stream(target: &ModelTarget, answer: ProviderResponse) -> ModelError {
    let found: String = answer.head.content_type.chars().take(60).collect();
    let body = answer.body.read_beginning(LONGEST_REFUSAL).await;
    let refusal = ProviderErrorResponse::new(&answer.head, &body);
    match (refusal.body.get("error"), protocol(target.wire)) {
        (Some(error), Ok(protocol)) => {
            // Some give the status they should have answered with.
            let code = error.get("code").and_then(serde_json::Value::as_u64);
            let code = code.and_then(|code| u16::try_from(code).ok());
            let status = code.filter(|code| (400..600).contains(code)).unwrap_or(500);
            protocol.classify_error(&ProviderErrorResponse { status, ..refusal })
        }
        _ => ModelError::Garbled(format!("expected an event stream, got `{found}`")),
    }
}

#[async_trait]
impl Provider for HttpProvider {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        if !target.dialect.stream {
            let events = self.fetch_events(target, request).await?;
            return Ok(Box::pin(futures_util::stream::iter(events.into_iter().map(Ok))));
        }
        let protocol = protocol(target.wire)?;
        let asked = json_output::prepare_request(target, request);
        let call = protocol.build_chat_request(target, &asked, StreamMode::Yes)?;
        let scrub = ErrorScrubber::new(target, &call.body);
        let answer =
            self.send_request(target, call, StreamMode::Yes).await.map_err(|fault| scrub.redact(fault))?;
        if answer.head.content_type != "text/event-stream" {
            return Err(scrub.redact(classify_non_stream(target, answer).await));
        }
        let ProviderResponse { head, body } = answer;
        let parser = SseParser::new(self.transport.limits().event);
        let unwrap = AnswerToolUnwrapper::new(target, request);
        let mut reader =
            ChatEventReader::new(body, parser, protocol.decoder(&head), unwrap, scrub.drop_large_request());
        if !head.limits.is_empty() {
            reader.push_event(ChatEvent::Limits(head.limits));
        }
        Ok(reader.into_stream())
    }

    /// Asks without streaming, so the answer is all there or not at all.
    async fn complete(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let mut assembler = ModelReplyAssembler::default();
        for event in self.fetch_events(target, request).await? {
            assembler.push(&event)?;
        }
        assembler.finish()
    }

    async fn embed(&self, target: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError> {
        let protocol = protocol(target.wire)?;
        let call = protocol.build_embed_request(target, texts)?;
        let scrub = ErrorScrubber::new(target, &call.body);
        let outcome = async {
            let answer = self.send_request(target, call, StreamMode::No).await?;
            let (vectors, input_tokens) = protocol.parse_embeddings(&answer.body.read_all().await?)?;
            validate_embedding(vectors, texts.len(), input_tokens)
        };
        outcome.await.map_err(|fault| scrub.redact(fault))
    }
}

fn validate_embedding(
    vectors: Vec<Vec<f32>>,
    texts: usize,
    input_tokens: Option<u64>,
) -> Result<Embedding, ModelError> {
    let dimension = vectors.first().map_or(0, Vec::len);
    if vectors.len() != texts {
        return Err(ModelError::Garbled(format!("got {} embeddings for {texts} texts", vectors.len())));
    }
    if vectors.iter().any(|vector| vector.len() != dimension || dimension == 0) {
        return Err(ModelError::Garbled("embeddings of different dimensions".to_owned()));
    }
    Ok(Embedding { vectors, dimension, input_tokens })
}
