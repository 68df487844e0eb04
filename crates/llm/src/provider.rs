//! The one trait.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;

use crate::chat::{ChatEvent, ChatReply, ChatRequest, ModelReplyAssembler};
use crate::error::ModelError;
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
        while let Some(event) = next_event(&mut stream).await {
            assembler.push(&event?)?;
        }
        assembler.finish()
    }

    /// How sure it is to answer this well; none where it can't tell without answering.
    fn confidence(&self, _target: &ModelTarget, _request: &ChatRequest) -> Option<AnswerConfidence> {
        None
    }

    async fn embed(&self, target: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError>;
}

/// How sure a model is of an answer it has not given yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerConfidence {
    /// In thousandths.
    pub thousandths: u16,
    /// It is surely right, and made of nothing but calls of tools that need no model and the phrases that tell their results.
    pub is_template: bool,
}

/// Two providers as one: what stays on this machine goes to the one, everything else to the other.
pub struct ProviderSwitch {
    pub here: Arc<dyn Provider>,
    pub remote: Arc<dyn Provider>,
}

impl ProviderSwitch {
    fn select_provider(&self, target: &ModelTarget) -> &dyn Provider {
        if target.is_local() { &*self.here } else { &*self.remote }
    }
}

#[async_trait]
impl Provider for ProviderSwitch {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        self.select_provider(target).stream(target, request).await
    }

    async fn complete(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.select_provider(target).complete(target, request).await
    }

    fn confidence(&self, target: &ModelTarget, request: &ChatRequest) -> Option<AnswerConfidence> {
        self.select_provider(target).confidence(target, request)
    }

    async fn embed(&self, target: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError> {
        self.select_provider(target).embed(target, texts).await
    }
}

/// The next item of a stream, without a combinator library.
pub async fn next_event(stream: &mut ChatStream) -> Option<Result<ChatEvent, ModelError>> {
    std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
}
