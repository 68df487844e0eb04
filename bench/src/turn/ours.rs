//! A turn as the product does it: the message stored, the prompt put together, the model asked over HTTP, the reply
//! checked, and everything about it stored. Whoever wrote follows it to its last event.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use munshi_agent::{MessageReceipt, ReceiveOptions, TurnEngine};
use munshi_conversations::RunEvent;
use munshi_safety::rate_limits::{LimitRefill, LimitSubject, RateLimit};
use munshi_types::{InboundMessage, InboundSender, PersonId};

use super::shop::{QUESTION, Shop};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

pub(crate) struct Ours {
    turns: TurnEngine,
    staff: Arc<Vec<InboundMessage>>,
    ids: munshi_types::IdGenerator,
    limits: Limits,
}

/// Whether a message is counted in the database, as those are that come through the web.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limits {
    Counted,
    None,
}

/// More than any machine does, so that nobody is ever refused.
const NEVER_REACHED: (u32, Duration) = (1_000_000, Duration::from_secs(1));

impl Limits {
    /// The tenant's and the person's, as for everybody who is known.
    fn for_sender(self, sender: &InboundSender) -> Vec<RateLimit> {
        let person = sender.person.map(|person| person.to_string()).unwrap_or_default();
        let limit = |subject, whose: &str| RateLimit::new(subject, whose, NEVER_REACHED, LimitRefill::Steady);
        match self {
            Self::Counted => vec![limit(LimitSubject::Tenant, ""), limit(LimitSubject::Person, &person)],
            Self::None => Vec::new(),
        }
    }
}

impl Ours {
    pub(crate) fn new(shop: &Shop, limits: Limits) -> Self {
        Self::saying(shop, limits, QUESTION)
    }

    /// People who all say this.
    pub(crate) fn saying(shop: &Shop, limits: Limits, text: &str) -> Self {
        let messages = shop.staff.iter().map(|person: &PersonId| shop.message(*person, text));
        let (turns, ids) = (shop.turns.clone(), shop.desk.ids.clone());
        Self { turns, staff: Arc::new(messages.collect()), ids, limits }
    }

    pub(crate) async fn run_turn(
        turns: &TurnEngine,
        inbound: InboundMessage,
        limits: Limits,
    ) -> Result<MessageReceipt> {
        let options =
            ReceiveOptions { limits: limits.for_sender(&inbound.from), ..ReceiveOptions::default() };
        let received = turns.receive_with_options(inbound, options).await?;
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
    pub(crate) async fn warm_up(&self, at_once: usize) -> Result<()> {
        for some in self.staff.chunks(at_once) {
            let turns = some.iter().map(|inbound| Self::run_turn(&self.turns, inbound.clone(), self.limits));
            futures_util::future::try_join_all(turns).await?;
        }
        Ok(())
    }

    pub(crate) fn first_message(&self) -> Result<InboundMessage> {
        self.staff.first().cloned().context("nobody works there")
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (turns, staff, ids) = (self.turns.clone(), self.staff.clone(), self.ids.clone());
        let limits = self.limits;
        let next = Arc::new(AtomicUsize::new(0));
        load.run_tasks(move || {
            let (turns, ids) = (turns.clone(), ids.clone());
            // Nobody writes again before their answer: at most as many are out as there are callers.
            let mut inbound = staff[next.fetch_add(1, Ordering::Relaxed) % staff.len()].clone();
            inbound.outside_id = ids.next::<munshi_types::MessageId>().to_string();
            async move { Self::run_turn(&turns, inbound, limits).await.map(drop) }
        })
    }
}
