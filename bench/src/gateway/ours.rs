//! The gateway as the product uses it: route, budget, breaker, price. The record is made and thrown away: writing it is
//! the caller's, in a transaction it has anyway.

use std::sync::Arc;

use anyhow::{Result, ensure};
use munshi_llm::gateway::{
    CallBilling, CallRecord, CallRecorder, CallSpend, CallSubject, Capability, GatewayParts, InMemoryBudget,
    ModelCall, ModelRoute,
};
use munshi_llm::pricing::{Cost, ModelPrice, PriceBook};
use munshi_llm::{
    ChatEvent, ChatRequest, Gateway, HttpProvider, ModelTarget, Provider, Transport, WireFormat,
};
use munshi_types::{SystemClock, SystemRandom, TenantId};

use super::mock::WORDS;
use super::{Form, question};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

pub(crate) struct Ours {
    gateway: Gateway,
    call: ModelCall,
    form: Form,
}

/// Where records go that nobody reads.
struct Forgetful;

impl CallRecorder for Forgetful {
    fn add(&self, _record: CallRecord) {}
}

impl Ours {
    pub(crate) fn new(address: &str, form: Form) -> Result<Self> {
        let mut target = target(address, "mock");
        target.dialect.stream = form == Form::Streamed;
        let gateway = gateway(target)?;
        Ok(Self { gateway, call: call(question()), form })
    }
}

pub(crate) fn target(address: &str, model: &str) -> ModelTarget {
    ModelTarget::new("mock", WireFormat::OpenAi, address, model)
}

/// The way to a model server, and what it costs there.
pub(crate) fn connect(target: &ModelTarget) -> Result<(Arc<dyn Provider>, PriceBook)> {
    let transport = Transport::new(Arc::new(SystemClock))?;
    let price = ModelPrice { input: 1_000_000, output: 5_000_000, ..ModelPrice::FREE };
    let provider: Arc<dyn Provider> = Arc::new(HttpProvider::new(transport));
    Ok((provider, PriceBook::new([(target.model.clone(), price)].into())))
}

pub(crate) fn gateway(target: ModelTarget) -> Result<Gateway> {
    let (provider, prices) = connect(&target)?;
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    Ok(Gateway::new(GatewayParts { provider, prices, targets: vec![target], clock, random }))
}

pub(crate) fn call(request: ChatRequest) -> ModelCall {
    let route = ModelRoute {
        targets: [(Capability::Default, vec!["mock".to_owned()])].into(),
        ..ModelRoute::default()
    };
    let budget = InMemoryBudget::new(CallSpend {
        tokens: u64::MAX,
        output: 0,
        cost: Some(Cost::from_micros(i64::MAX)),
    });
    let account = CallBilling {
        tenant: TenantId::PLATFORM,
        about: CallSubject::default(),
        budget: Arc::new(budget),
        tab: Arc::new(Forgetful),
        prompt: None,
        prices: None,
    };
    ModelCall {
        wanted: Capability::Default,
        route: Arc::new(route),
        request: Arc::new(request),
        account,
        veil: None,
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (gateway, call, form) = (self.gateway.clone(), self.call.clone(), self.form);
        load.run_tasks(move || {
            let (gateway, call) = (gateway.clone(), call.clone());
            async move {
                match form {
                    Form::Whole => {
                        let reply = gateway.complete(call).await?;
                        ensure!(reply.usage.output == 200, "another answer");
                    }
                    Form::Streamed => {
                        let mut live = gateway.stream(call).await?;
                        let mut words = 0;
                        while let Some(event) = live.next().await {
                            words += usize::from(matches!(event?, ChatEvent::Text(_)));
                        }
                        ensure!(words == WORDS, "{words} words");
                    }
                }
                Ok(())
            }
        })
    }
}
