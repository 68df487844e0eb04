//! A turn as the product does it: the message stored, the prompt put together, the model asked over HTTP, the reply
//! checked, and everything about it stored. Whoever wrote follows it to its last event.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use munshi_agent::{MessageReceipt, RunEvent, TurnEngine};
use munshi_types::{InboundMessage, PersonId};

use super::shop::Shop;
use crate::contest::Contestant;
use crate::load::{Load, Tally};

pub(crate) struct Ours {
    turns: TurnEngine,
    staff: Arc<Vec<InboundMessage>>,
    ids: munshi_types::IdGenerator,
}

impl Ours {
    pub(crate) fn of(shop: &Shop) -> Self {
        let messages = shop.staff.iter().map(|person: &PersonId| shop.message(*person));
        Self { turns: shop.turns.clone(), staff: Arc::new(messages.collect()), ids: shop.desk.ids.clone() }
    }

    pub(crate) async fn one(turns: &TurnEngine, inbound: InboundMessage) -> Result<MessageReceipt> {
        let received = turns.receive(inbound).await?;
        let mut following = turns.follow(received.tenant, received.run, None).await?;
        while let Some((_, event)) = following.next().await {
            if let RunEvent::Done { degraded, .. } = event {
                ensure!(!degraded, "an excuse is no answer");
                return Ok(received);
            }
        }
        anyhow::bail!("a turn had no end")
    }

    /// One turn for each, a few at a time.
    pub(crate) async fn greet(&self, at_once: usize) -> Result<()> {
        for some in self.staff.chunks(at_once) {
            let turns = some.iter().map(|inbound| Self::one(&self.turns, inbound.clone()));
            futures_util::future::try_join_all(turns).await?;
        }
        Ok(())
    }

    pub(crate) fn first(&self) -> Result<InboundMessage> {
        self.staff.first().cloned().context("nobody works there")
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (turns, staff, ids) = (self.turns.clone(), self.staff.clone(), self.ids.clone());
        let next = Arc::new(AtomicUsize::new(0));
        load.tasks(move || {
            let (turns, ids) = (turns.clone(), ids.clone());
            // Nobody writes again before their answer: at most as many are out as there are callers.
            let mut inbound = staff[next.fetch_add(1, Ordering::Relaxed) % staff.len()].clone();
            inbound.outside_id = ids.next::<munshi_types::MessageId>().to_string();
            async move { Self::one(&turns, inbound).await.map(drop) }
        })
    }
}
