//! The one trait.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;

use crate::chat::{ChatEvent, ChatReply, ChatRequest, ModelReplyAssembler};
use crate::fault::ModelError;
use crate::target::ModelTarget;

/// Events until `Finished`, or until a fault, which is always the last item. Dropping it closes the socket.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatEvent, ModelError>> + Send>>;

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
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError>;

    /// A whole reply. The default listens to the stream; a wire may ask without streaming.
    async fn complete(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let mut stream = self.stream(target, request).await?;
        let mut assembler = ModelReplyAssembler::default();
        while let Some(event) = next(&mut stream).await {
            assembler.take(&event?)?;
        }
        assembler.finish()
    }

    /// How sure it is, in thousandths, to answer this well; none where it can't tell without answering.
    fn confidence(&self, _target: &ModelTarget, _request: &ChatRequest) -> Option<u16> {
        None
    }

    async fn embed(&self, target: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError>;
}

/// Two providers as one: what stays on this machine goes to the one, everything else to the other.
pub struct ProviderSwitch {
    pub here: Arc<dyn Provider>,
    pub remote: Arc<dyn Provider>,
}

impl ProviderSwitch {
    fn of(&self, target: &ModelTarget) -> &dyn Provider {
        if target.stays_here() { &*self.here } else { &*self.remote }
    }
}

#[async_trait]
impl Provider for ProviderSwitch {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        self.of(target).stream(target, request).await
    }

    async fn complete(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.of(target).complete(target, request).await
    }

    fn confidence(&self, target: &ModelTarget, request: &ChatRequest) -> Option<u16> {
        self.of(target).confidence(target, request)
    }

    async fn embed(&self, target: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError> {
        self.of(target).embed(target, texts).await
    }
}

/// The next item of a stream, without a combinator library.
pub async fn next(stream: &mut ChatStream) -> Option<Result<ChatEvent, ModelError>> {
    std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
}
