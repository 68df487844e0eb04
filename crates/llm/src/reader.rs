//! From bytes to events, until the proper end or a fault.

use std::collections::VecDeque;

use futures_util::{FutureExt, stream};

use crate::answer::Unwrap;
use crate::chat::Event;
use crate::fault::Fault;
use crate::protocol::{Decoder, Flow};
use crate::provider::ChatStream;
use crate::refusal::Scrub;
use crate::sse::Parser;
use crate::transport::Body;

pub(crate) struct Reader {
    /// Gone as soon as nothing more is wanted of it, which frees or closes the connection.
    body: Option<Body>,
    parser: Parser,
    decoder: Box<dyn Decoder>,
    unwrap: Unwrap,
    scrub: Scrub,
    ready: VecDeque<Event>,
    /// Handed out after what was read before it.
    fault: Option<Fault>,
}

impl Reader {
    pub(crate) fn new(
        body: Body,
        parser: Parser,
        decoder: Box<dyn Decoder>,
        unwrap: Unwrap,
        scrub: Scrub,
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

    pub(crate) fn announce(&mut self, event: Event) {
        self.ready.push_back(event);
    }

    async fn next(&mut self) -> Option<Result<Event, Fault>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(fault) = self.fault.take() {
                return Some(Err(self.scrub.clean(fault)));
            }
            let mut events = Vec::new();
            let outcome = match self.body.as_mut()?.next().await {
                Ok(Some(bytes)) => self.take(&bytes, &mut events),
                Ok(None) => self.decoder.end(&mut events).map(|()| Flow::Done),
                Err(fault) => Err(fault),
            };
            self.settle(events, outcome);
        }
    }

    fn take(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<Flow, Fault> {
        let mut messages = Vec::new();
        let parsed = self.parser.push(bytes, &mut messages);
        for message in &messages {
            if self.decoder.take(message, events)? == Flow::Done {
                return Ok(Flow::Done);
            }
        }
        parsed.map(|()| Flow::More)
    }

    fn settle(&mut self, events: Vec<Event>, outcome: Result<Flow, Fault>) {
        for event in events {
            if let (Some(body), true) = (&mut self.body, event.is_delta()) {
                body.has_begun = true;
            }
            self.ready.extend(self.unwrap.event(event));
        }
        if outcome != Ok(Flow::More)
            && let Some(mut body) = self.body.take()
        {
            // The body's end is mostly there already; read, it lets the connection serve the next call.
            let _end = body.next().now_or_never();
        }
        self.fault = outcome.err();
    }
}
