//! Between a caller and the wires: which model, whether it may, what if it fails, and what it cost.
//!
//! A [`ModelCall`] goes in. `fallback` looks for a target that begins to answer; each try is an `attempt`, which asks the
//! budget first and is written on the caller's tab however it ends; what comes out is [`ModelReplyStream`], a reply on its way. A [`Redactor`]
//! hides people from the targets that may not see them.

mod attempt;
mod breaker;
mod budget;
mod call;
mod call_log;
mod embed;
mod estimate;
mod failure_reply;
mod fallback;
mod health;
mod meter;
mod prompt_record;
mod prompt_text;
mod redaction;
mod reply_stream;
mod reply_validation;
mod reservation;
mod route;
mod strategy;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use munshi_types::{Clock, IdGenerator, Random};
use tokio_util::task::TaskTracker;

pub use breaker::{BreakerDecision, CircuitBreaker, HealthSignal};
pub use budget::{CallBudget, CallSpend, InMemoryBudget, UnlimitedBudget};
pub use call::{CallBilling, ModelCall};
pub use call_log::{CallRecord, CallRecorder, CallSubject, InMemoryCallLog, ModelCallOutcome};
pub use failure_reply::render_failure_reply;
pub use prompt_record::PromptRecord;
pub use prompt_text::{PromptText, PromptTextMessage, PromptTextRole};
pub use redaction::{EventUnredactor, Redactor};
pub use reply_stream::ModelReplyStream;
pub use route::{Capability, ModelRoute, RoutingStrategy};
pub use strategy::RoutingHints;

use self::estimate::CallEstimate;
use self::fallback::TargetSearch;
use self::health::TargetBreakers;
use crate::chat::{ChatReply, ChatRequest};
use crate::error::ModelError;
use crate::pricing::PriceBook;
use crate::provider::Provider;
use crate::target::ModelTarget;

/// One for the program; clones share what they know about the targets' health.
#[derive(Clone)]
pub struct Gateway {
    shared: Arc<GatewayState>,
}

pub(crate) struct GatewayState {
    targets: Vec<Arc<ModelTarget>>,
    provider: Arc<dyn Provider>,
    prices: PriceBook,
    health: TargetBreakers,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    ids: IdGenerator,
    /// Settles the budgets of calls whose callers have gone.
    tasks: TaskTracker,
}

/// What a gateway is made of.
pub struct GatewayParts {
    pub targets: Vec<ModelTarget>,
    pub provider: Arc<dyn Provider>,
    pub prices: PriceBook,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

impl Gateway {
    pub fn new(parts: GatewayParts) -> Self {
        let GatewayParts { targets, provider, prices, clock, random } = parts;
        let ids = IdGenerator::new(clock.clone(), random.clone());
        let health = TargetBreakers::new(clock.clone());
        let targets = targets.into_iter().map(Arc::new).collect();
        let tasks = TaskTracker::new();
        Self {
            shared: Arc::new(GatewayState { targets, provider, prices, health, clock, random, ids, tasks }),
        }
    }

    /// Returns once a model has begun to answer. A fault means that nothing was said and everything permitted was
    /// tried.
    pub async fn stream(&self, call: ModelCall) -> Result<ModelReplyStream, ModelError> {
        TargetSearch::new(&self.shared, call).run().await
    }

    /// The whole answer. It is streamed underneath, so that a silent model is noticed in seconds.
    pub async fn complete(&self, call: ModelCall) -> Result<ChatReply, ModelError> {
        self.stream(call).await?.collect_reply().await
    }

    pub fn targets(&self) -> &[Arc<ModelTarget>] {
        &self.shared.targets
    }

    pub fn target(&self, name: &str) -> Result<&Arc<ModelTarget>, ModelError> {
        let found = self.shared.targets.iter().find(|target| target.name == name);
        found.ok_or_else(|| ModelError::NoTarget(format!("there is no model `{name}`")))
    }

    /// How a target has been doing, as this process has seen it.
    pub fn health(&self, target: &str) -> CircuitBreaker {
        self.shared.health.snapshot(target)
    }

    pub fn prices(&self) -> &PriceBook {
        &self.shared.prices
    }

    /// What a call may take of a budget at most, counted without asking anybody.
    pub fn estimate_call(&self, target: &ModelTarget, request: &ChatRequest) -> CallSpend {
        CallEstimate::for_request(target, request, &self.shared.prices, self.shared.clock.now()).most
    }

    /// Waits until the budgets of all ended calls are settled. For the end of the program.
    pub async fn wait_until_settled(&self) {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.tasks.reopen();
    }
}

impl GatewayState {
    fn prices_for(&self, account: &CallBilling) -> Cow<'_, PriceBook> {
        match &account.prices {
            Some(own) => Cow::Owned(own.with_fallback(&self.prices)),
            None => Cow::Borrowed(&self.prices),
        }
    }

    /// The targets for a call. Where the model of this machine is sure of its answer, it goes first.
    fn candidates(&self, call: &ModelCall) -> Result<Vec<Arc<ModelTarget>>, ModelError> {
        let mut targets = call.route.candidates(call.wanted, &call.request, &self.targets)?;
        if !targets.first().is_some_and(|first| first.is_local())
            && let Some(here) = self.find_sure_target(&call.route, &call.request)
        {
            targets.retain(|target| !target.is_local());
            targets.insert(0, here.clone());
        }
        Ok(targets)
    }

    /// The model of this machine, where the route lets it answer what it is sure of, and it is.
    fn find_sure_target(&self, route: &ModelRoute, request: &ChatRequest) -> Option<&Arc<ModelTarget>> {
        let has_templates = route.templates && request.tools.iter().any(|tool| tool.needs_no_model);
        if route.sure_above.is_none() && !has_templates {
            return None;
        }
        let here = self.targets.iter().find(|target| target.is_local())?;
        let known = route.admits(here, request).then(|| self.provider.confidence(here, request))??;
        let is_sure = route.sure_above.is_some_and(|least| known.thousandths >= least);
        (is_sure || (has_templates && known.is_template)).then_some(here)
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.shared.targets.iter().map(|target| target.name.as_str()).collect();
        f.debug_struct("Gateway").field("targets", &names).finish_non_exhaustive()
    }
}
