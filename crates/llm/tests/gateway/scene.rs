//! A gateway with scripted models, on a clock that moves with tokio's.

use std::sync::Arc;
use std::time::Duration;

use munshi_llm::gateway::{
    CallBilling, CallBudget, CallRecord, CallSpend, CallSubject, Capability, GatewayParts, InMemoryBudget,
    InMemoryCallLog, ModelCall, ModelReplyStream, ModelRoute, Redactor,
};
use munshi_llm::pricing::{Cost, ModelPrice, PriceBook};
use munshi_llm::{
    ChatEvent, ChatMessage, ChatReply, ChatRequest, Gateway, ModelError, ModelTarget, Provider, WireFormat,
};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_types::{Clock, Random, SeededRandom, TenantId, Timestamp};
use tokio::time::Instant;

/// Follows tokio's clock, so that what sleeps and what looks at the time agree when time is paused.
#[derive(Debug)]
pub(crate) struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000).plus(self.0.elapsed())
    }
}

/// Half of what may be waited before another try.
#[derive(Debug)]
struct Middle;

impl Random for Middle {
    fn fill(&self, bytes: &mut [u8]) {
        SeededRandom::new(7).fill(bytes);
    }

    fn next_below(&self, bound: u64) -> u64 {
        bound / 2
    }
}

/// The pause that [`Middle`] gives: 300 ms and half of the 501 that may be added.
pub(crate) const PAUSE: Duration = Duration::from_millis(550);

pub(crate) struct Scene {
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) gateway: Gateway,
    pub(crate) tab: Arc<InMemoryCallLog>,
    pub(crate) budget: Arc<InMemoryBudget>,
    pub(crate) route: Arc<ModelRoute>,
    pub(crate) request: ChatRequest,
    pub(crate) veil: Option<Arc<dyn Redactor>>,
}

/// A dollar for a million tokens in, ten for a million out.
pub(crate) const PRICE: ModelPrice = ModelPrice {
    input: 1_000_000,
    output: 10_000_000,
    cache_read: 100_000,
    cache_write_5m: 1_250_000,
    cache_write_1h: 2_000_000,
};

pub(crate) fn target(name: &str) -> ModelTarget {
    ModelTarget::new(name, WireFormat::OpenAi, "", format!("{name}-model"))
}

pub(crate) fn route(names: &[&str]) -> ModelRoute {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    ModelRoute { targets: [(Capability::Default, names)].into(), ..ModelRoute::default() }
}

impl Scene {
    /// Four targets of one price, and three of them on the route.
    pub(crate) fn new(turns: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        let model = Arc::new(ScriptedModel::new(turns));
        Self::of(model.clone(), model)
    }

    pub(crate) fn of(model: Arc<ScriptedModel>, provider: Arc<dyn Provider>) -> Self {
        let names = ["first", "second", "third", "fourth"];
        let prices = names.iter().map(|name| (format!("{name}-model"), PRICE)).collect();
        let gateway = Gateway::new(GatewayParts {
            targets: names.into_iter().map(target).chain([ModelTarget::offline()]).collect(),
            provider,
            prices: PriceBook::new(prices),
            clock: Arc::new(TokioClock(Instant::now())),
            random: Arc::new(Middle),
        });
        let budget = InMemoryBudget::new(CallSpend {
            tokens: 1 << 40,
            cost: Some(Cost::from_micros(1 << 40)),
            ..CallSpend::default()
        });
        let request = ChatRequest {
            messages: vec![ChatMessage::user("how are you?")],
            max_output_tokens: 100,
            ..ChatRequest::default()
        };
        Self {
            model,
            gateway,
            tab: Arc::default(),
            budget: Arc::new(budget),
            route: Arc::new(route(&["first", "second", "third", "fourth"])),
            request,
            veil: None,
        }
    }

    pub(crate) fn account(&self) -> CallBilling {
        let (budget, tab) = (self.budget.clone() as Arc<dyn CallBudget>, self.tab.clone());
        CallBilling {
            tenant: TenantId::PLATFORM,
            about: CallSubject::default(),
            budget,
            tab,
            prices: None,
            prompt: None,
        }
    }

    pub(crate) fn call(&self) -> ModelCall {
        let (route, request) = (self.route.clone(), Arc::new(self.request.clone()));
        ModelCall {
            wanted: Capability::Default,
            route,
            request,
            account: self.account(),
            veil: self.veil.clone(),
        }
    }

    pub(crate) async fn complete(&self) -> Result<ChatReply, ModelError> {
        self.gateway.complete(self.call()).await
    }

    pub(crate) async fn stream(&self) -> Result<ModelReplyStream, ModelError> {
        self.gateway.stream(self.call()).await
    }

    /// The targets that were asked, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.model.requests().into_iter().map(|asked| asked.target).collect()
    }

    pub(crate) fn records(&self) -> Vec<CallRecord> {
        self.tab.take()
    }
}

/// All events of a reply, and the fault that ended it where one did.
pub(crate) async fn all(mut live: ModelReplyStream) -> (Vec<ChatEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    while let Some(item) = live.next().await {
        match item {
            Ok(event) => events.push(event),
            Err(fault) => return (events, Some(fault)),
        }
    }
    (events, None)
}

/// The text among events.
pub(crate) fn text(events: &[ChatEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        ChatEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub(crate) fn down() -> ModelError {
    ModelError::Failed { status: 503, message: "busy".to_owned(), retry_after: None }
}
