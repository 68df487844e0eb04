//! Between a caller and the wires: which model, whether it may, what if it fails, and what it cost.
//!
//! A [`Call`] goes in. `fallback` looks for a target that begins to answer; each try is an `attempt`, which asks the
//! budget first and is written on the caller's tab however it ends; what comes out is [`Live`], a reply on its way. A [`Veil`]
//! hides people from the targets that may not see them.

mod attempt;
mod bill;
mod breaker;
mod budget;
mod call;
mod courtesy;
mod embed;
mod fallback;
mod form;
mod health;
mod held;
mod live;
mod meter;
mod route;
mod strategy;
mod tab;
mod veil;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use munshi_types::{Clock, Ids, Random};
use tokio_util::task::TaskTracker;

pub use breaker::{Breaker, Finding, Permission};
pub use budget::{Budget, MemoryBudget, Spend, Unlimited};
pub use call::{Account, Call};
pub use courtesy::courtesy;
pub use live::Live;
pub use route::{Route, Strategy, Use};
pub use strategy::Hints;
pub use tab::{About, CallRecord, Ending, MemoryTab, Tab};
pub use veil::{Reveal, Veil};

use self::fallback::Search;
use self::health::Health;
use crate::chat::Reply;
use crate::fault::Fault;
use crate::money::PriceBook;
use crate::provider::Provider;
use crate::target::Target;

/// One for the program; clones share what they know about the targets' health.
#[derive(Clone)]
pub struct Gateway {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    targets: Vec<Arc<Target>>,
    provider: Arc<dyn Provider>,
    prices: PriceBook,
    health: Health,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    ids: Ids,
    /// Settles the budgets of calls whose callers have gone.
    tasks: TaskTracker,
}

/// What a gateway is made of.
pub struct Parts {
    pub targets: Vec<Target>,
    pub provider: Arc<dyn Provider>,
    pub prices: PriceBook,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

impl Gateway {
    pub fn new(parts: Parts) -> Self {
        let Parts { targets, provider, prices, clock, random } = parts;
        let ids = Ids::new(clock.clone(), random.clone());
        let health = Health::new(clock.clone());
        let targets = targets.into_iter().map(Arc::new).collect();
        let tasks = TaskTracker::new();
        Self { shared: Arc::new(Shared { targets, provider, prices, health, clock, random, ids, tasks }) }
    }

    /// Returns once a model has begun to answer. A fault means that nothing was said and everything permitted was
    /// tried.
    pub async fn stream(&self, call: Call) -> Result<Live, Fault> {
        Search::new(&self.shared, call).run().await
    }

    /// The whole answer. It is streamed underneath, so that a silent model is noticed in seconds.
    pub async fn complete(&self, call: Call) -> Result<Reply, Fault> {
        self.stream(call).await?.whole().await
    }

    pub fn targets(&self) -> &[Arc<Target>] {
        &self.shared.targets
    }

    pub fn target(&self, name: &str) -> Result<&Arc<Target>, Fault> {
        let found = self.shared.targets.iter().find(|target| target.name == name);
        found.ok_or_else(|| Fault::NoTarget(format!("there is no model `{name}`")))
    }

    /// How a target has been doing, as this process has seen it.
    pub fn health(&self, target: &str) -> Breaker {
        self.shared.health.of(target)
    }

    pub fn prices(&self) -> &PriceBook {
        &self.shared.prices
    }

    /// Waits until the budgets of all ended calls are settled. For the end of the program.
    pub async fn settled(&self) {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.tasks.reopen();
    }
}

impl Shared {
    fn prices_for(&self, account: &Account) -> Cow<'_, PriceBook> {
        match &account.prices {
            Some(own) => Cow::Owned(own.over(&self.prices)),
            None => Cow::Borrowed(&self.prices),
        }
    }

    /// The targets for a call. Where the model of this machine is sure of its answer, it goes first.
    fn candidates(&self, call: &Call) -> Result<Vec<Arc<Target>>, Fault> {
        let mut targets = call.route.candidates(call.wanted, &call.request, &self.targets)?;
        if let Some(sure) = call.route.sure_above
            && let Some(here) = self.targets.iter().find(|target| target.stays_here())
            && !targets.first().is_some_and(|first| first.stays_here())
            && call.route.admits(here, &call.request)
            && self.provider.confidence(here, &call.request).is_some_and(|known| known >= sure)
        {
            targets.retain(|target| !target.stays_here());
            targets.insert(0, here.clone());
        }
        Ok(targets)
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.shared.targets.iter().map(|target| target.name.as_str()).collect();
        f.debug_struct("Gateway").field("targets", &names).finish_non_exhaustive()
    }
}
