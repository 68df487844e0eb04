//! A model behind a bad line.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use munshi_llm::{ChatRequest, ChatStream, Embedding, Event, Fault, Provider, Target};
use munshi_types::random::{Random, SeededRandom};

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
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
pub struct Faulty<P> {
    inner: P,
    chance: SeededRandom,
    /// Of a hundred calls, how many fail.
    percent: u64,
}

impl<P> Faulty<P> {
    pub fn new(inner: P, seed: u64, percent: u64) -> Self {
        Self { inner, chance: SeededRandom::new(seed), percent }
    }

    pub fn inner(&self) -> &P {
        &self.inner
    }

    fn mishap(&self) -> Option<Mishap> {
        let (fails, kind, after) = (self.chance.below(100), self.chance.below(6), self.chance.below(4));
        let after = usize::try_from(after).unwrap_or(0);
        (fails < self.percent).then_some(match kind {
            0 => Mishap::Limited,
            1 => Mishap::Down,
            2 => Mishap::Cut(after),
            3 => Mishap::Stops(after),
            4 => Mishap::Drips,
            _ => Mishap::Garbage,
        })
    }
}

#[async_trait]
impl<P: Provider> Provider for Faulty<P> {
    async fn stream(&self, target: &Target, request: &ChatRequest) -> Result<ChatStream, Fault> {
        let mishap = self.mishap();
        match mishap {
            Some(Mishap::Limited) => {
                return Err(Fault::RateLimited { retry_after: Some(Duration::from_secs(1)) });
            }
            Some(Mishap::Down) => {
                return Err(Fault::Failed {
                    status: 503,
                    message: "overloaded".to_owned(),
                    retry_after: None,
                });
            }
            Some(Mishap::Garbage) => return Err(Fault::Garbled("no event".to_owned())),
            _ => {}
        }
        let stream = self.inner.stream(target, request).await?;
        Ok(match mishap {
            Some(Mishap::Cut(after)) => Box::pin(front(stream, after).chain(broken())),
            Some(Mishap::Stops(after)) => Box::pin(front(stream, after)),
            Some(Mishap::Drips) => Box::pin(stream.then(|item| async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                item
            })),
            _ => stream,
        })
    }

    async fn embed(&self, target: &Target, texts: &[String]) -> Result<Embedding, Fault> {
        self.inner.embed(target, texts).await
    }
}

type Item = Result<Event, Fault>;

/// So many events, never the proper end.
fn front(stream: ChatStream, after: usize) -> impl futures_util::Stream<Item = Item> + Send {
    let goes_on = |item: &Item| !matches!(item, Ok(Event::Finished { .. }));
    stream.take(after).take_while(move |item| std::future::ready(goes_on(item)))
}

fn broken() -> impl futures_util::Stream<Item = Item> + Send {
    futures_util::stream::iter([Err(Fault::Interrupted)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{Scripted, Turn};

    async fn run(seed: u64) -> Vec<String> {
        let model = Faulty::new(Scripted::new((0..200).map(|_| Turn::text("hi"))), seed, 50);
        let mut ends = Vec::new();
        for _ in 0..60 {
            let whole = model.complete(&Target::offline(), &ChatRequest::default()).await;
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
