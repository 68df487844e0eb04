//! The one trait.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;

use crate::chat::{Assembler, ChatRequest, Event, Reply};
use crate::fault::Fault;
use crate::target::Target;

/// Events until `Finished`, or until a fault, which is always the last item. Dropping it closes the socket.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<Event, Fault>> + Send>>;

/// Vectors for texts, in the order of the texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    pub vectors: Vec<Vec<f32>>,
    /// All of one length.
    pub dimension: usize,
    /// None where the provider doesn't say.
    pub input_tokens: Option<u64>,
}

/// One way of talking to models. It tries once: no retries, no fallback, no budget. Those are the gateway's.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Begins a call. A fault here means that nothing was said yet.
    async fn stream(&self, target: &Target, request: &ChatRequest) -> Result<ChatStream, Fault>;

    /// A whole reply. The default listens to the stream; a wire may ask without streaming.
    async fn complete(&self, target: &Target, request: &ChatRequest) -> Result<Reply, Fault> {
        let mut stream = self.stream(target, request).await?;
        let mut assembler = Assembler::default();
        while let Some(event) = next(&mut stream).await {
            assembler.take(&event?)?;
        }
        assembler.finish()
    }

    /// How sure it is, in thousandths, to answer this well; none where it can't tell without answering.
    fn confidence(&self, _target: &Target, _request: &ChatRequest) -> Option<u16> {
        None
    }

    async fn embed(&self, target: &Target, texts: &[String]) -> Result<Embedding, Fault>;
}

/// Two providers as one: what stays on this machine goes to the one, everything else to the other.
pub struct Switch {
    pub here: Arc<dyn Provider>,
    pub remote: Arc<dyn Provider>,
}

impl Switch {
    fn of(&self, target: &Target) -> &dyn Provider {
        if target.stays_here() { &*self.here } else { &*self.remote }
    }
}

#[async_trait]
impl Provider for Switch {
    async fn stream(&self, target: &Target, request: &ChatRequest) -> Result<ChatStream, Fault> {
        self.of(target).stream(target, request).await
    }

    async fn complete(&self, target: &Target, request: &ChatRequest) -> Result<Reply, Fault> {
        self.of(target).complete(target, request).await
    }

    fn confidence(&self, target: &Target, request: &ChatRequest) -> Option<u16> {
        self.of(target).confidence(target, request)
    }

    async fn embed(&self, target: &Target, texts: &[String]) -> Result<Embedding, Fault> {
        self.of(target).embed(target, texts).await
    }
}

/// The next item of a stream, without a combinator library.
pub async fn next(stream: &mut ChatStream) -> Option<Result<Event, Fault>> {
    std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
}
