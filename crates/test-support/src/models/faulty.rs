//! A model behind a bad line.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use munshi_llm::{ChatEvent, ChatRequest, ChatStream, Embedding, ModelError, ModelTarget, Provider};
use munshi_types::random::{Random, SeededRandom};

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedFault {
    /// 429 with a wait of one second.
    Limited,
    /// 503 before a word is said.
    Down,
    /// The stream breaks off after so many events.
    Cut(usize),
    /// The stream just ends after so many events, without a fault and without its proper end.
    Stops(usize),
    /// A second before each event.
    Drips,
    /// Bytes that are no answer.
    Garbage,
}

/// Breaks some calls of another model, chosen by a seed: the same seed breaks the same calls in the same way.
#[derive(Debug)]
pub struct FaultyModel<P> {
    inner: P,
    chance: SeededRandom,
    /// Of a hundred calls, how many fail.
    percent: u64,
}

impl<P> FaultyModel<P> {
    pub fn new(inner: P, seed: u64, percent: u64) -> Self {
        Self { inner, chance: SeededRandom::new(seed), percent }
    }

    pub fn inner(&self) -> &P {
        &self.inner
    }

    fn pick_fault(&self) -> Option<InjectedFault> {
        let (fails, kind, after) =
            (self.chance.next_below(100), self.chance.next_below(6), self.chance.next_below(4));
        let after = usize::try_from(after).unwrap_or(0);
        (fails < self.percent).then_some(match kind {
            0 => InjectedFault::Limited,
            1 => InjectedFault::Down,
            2 => InjectedFault::Cut(after),
            3 => InjectedFault::Stops(after),
            4 => InjectedFault::Drips,
            _ => InjectedFault::Garbage,
        })
    }
}

#[async_trait]
impl<P: Provider> Provider for FaultyModel<P> {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        let mishap = self.pick_fault();
        match mishap {
            Some(InjectedFault::Limited) => {
                return Err(ModelError::RateLimited { retry_after: Some(Duration::from_secs(1)) });
            }
            Some(InjectedFault::Down) => {
                return Err(ModelError::Failed {
                    status: 503,
                    message: "overloaded".to_owned(),
                    retry_after: None,
                });
            }
            Some(InjectedFault::Garbage) => return Err(ModelError::Garbled("no event".to_owned())),
            _ => {}
        }
        let stream = self.inner.stream(target, request).await?;
        Ok(match mishap {
            Some(InjectedFault::Cut(after)) => {
                Box::pin(truncate_stream(stream, after).chain(interrupted_stream()))
            }
            Some(InjectedFault::Stops(after)) => Box::pin(truncate_stream(stream, after)),
            Some(InjectedFault::Drips) => Box::pin(stream.then(|item| async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                item
            })),
            _ => stream,
        })
    }

    async fn embed(&self, target: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError> {
        self.inner.embed(target, texts).await
    }
}

type Item = Result<ChatEvent, ModelError>;

/// So many events, never the proper end.
fn truncate_stream(stream: ChatStream, after: usize) -> impl futures_util::Stream<Item = Item> + Send {
    let goes_on = |item: &Item| !matches!(item, Ok(ChatEvent::Finished { .. }));
    stream.take(after).take_while(move |item| std::future::ready(goes_on(item)))
}

fn interrupted_stream() -> impl futures_util::Stream<Item = Item> + Send {
    futures_util::stream::iter([Err(ModelError::Interrupted)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{ScriptedModel, ScriptedTurn};

    async fn run(seed: u64) -> Vec<String> {
        let model =
            FaultyModel::new(ScriptedModel::new((0..200).map(|_| ScriptedTurn::text("hi"))), seed, 50);
        let mut ends = Vec::new();
        for _ in 0..60 {
            let whole = model.complete(&ModelTarget::offline(), &ChatRequest::default()).await;
            ends.push(whole.map_or_else(|fault| fault.code().to_owned(), |reply| reply.text()));
        }
        ends
    }

    #[tokio::test(start_paused = true)]
    async fn a_seed_breaks_the_same_calls_and_every_kind_of_them() {
        let ends = run(7).await;
        assert_eq!(ends, run(7).await);
        assert_ne!(ends, run(8).await);
        for end in ["hi", "rate_limited", "provider_failed", "interrupted", "garbled"] {
            assert!(ends.iter().any(|seen| seen == end), "{end} never came");
        }
    }
}
