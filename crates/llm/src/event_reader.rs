//! From bytes to events, until the proper end or a fault.

use std::collections::VecDeque;

use futures_util::{FutureExt, stream};

use crate::chat::ChatEvent;
use crate::error::ModelError;
use crate::json_output::AnswerToolUnwrapper;
use crate::protocol::{DecodeStatus, StreamDecoder};
use crate::provider::ChatStream;
use crate::provider_error::ErrorScrubber;
use crate::sse::SseParser;
use crate::transport::ProviderResponseBody;

pub(crate) struct ChatEventReader {
    /// Gone as soon as nothing more is wanted of it, which frees or closes the connection.
    body: Option<ProviderResponseBody>,
    parser: SseParser,
    decoder: Box<dyn StreamDecoder>,
    unwrap: AnswerToolUnwrapper,
    scrub: ErrorScrubber,
    ready: VecDeque<ChatEvent>,
    /// Handed out after what was read before it.
    fault: Option<ModelError>,
}

impl ChatEventReader {
    pub(crate) fn new(
        body: ProviderResponseBody,
        parser: SseParser,
        decoder: Box<dyn StreamDecoder>,
        unwrap: AnswerToolUnwrapper,
        scrub: ErrorScrubber,
    ) -> Self {
        Self { body: Some(body), parser, decoder, unwrap, scrub, ready: VecDeque::new(), fault: None }
    }

    /// Dropping the stream drops the reader and with it the connection.
    pub(crate) fn into_stream(self) -> ChatStream {
        Box::pin(stream::unfold(self, |mut reader| async move {
            let item = reader.next().await?;
            Some((item, reader))
        }))
    }

    pub(crate) fn push_event(&mut self, event: ChatEvent) {
        self.ready.push_back(event);
    }

    async fn next(&mut self) -> Option<Result<ChatEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(fault) = self.fault.take() {
                return Some(Err(self.scrub.redact(fault)));
            }
            let mut events = Vec::new();
            let outcome = match self.body.as_mut()?.next().await {
                Ok(Some(bytes)) => self.decode_bytes(&bytes, &mut events),
                Ok(None) => self.decoder.end(&mut events).map(|()| DecodeStatus::Done),
                Err(fault) => Err(fault),
            };
            self.queue_events(events, outcome);
        }
    }

    fn decode_bytes(
        &mut self,
        bytes: &[u8],
        events: &mut Vec<ChatEvent>,
    ) -> Result<DecodeStatus, ModelError> {
        let mut messages = Vec::new();
        let parsed = self.parser.push(bytes, &mut messages);
        for message in &messages {
            if self.decoder.decode(message, events)? == DecodeStatus::Done {
                return Ok(DecodeStatus::Done);
            }
        }
        parsed.map(|()| DecodeStatus::More)
    }

    fn queue_events(&mut self, events: Vec<ChatEvent>, outcome: Result<DecodeStatus, ModelError>) {
        for event in events {
            if let (Some(body), true) = (&mut self.body, event.is_delta()) {
                body.has_begun = true;
            }
            self.ready.extend(self.unwrap.unwrap_event(event));
        }
        if outcome != Ok(DecodeStatus::More)
            && let Some(mut body) = self.body.take()
        {
            // The body's end is mostly there already; read, it lets the connection serve the next call.
            let _end = body.next().now_or_never();
        }
        self.fault = outcome.err();
    }
}
