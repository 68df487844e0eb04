//! The gateway over the wires: a line cut at every point, then a server that is well again. Whatever the wire, the caller
//! hears one whole answer or the beginning of one, and pays for both attempts what is known of them.

use std::sync::Arc;

use munshi_llm::gateway::{
    CallBilling, CallSpend, CallSubject, Capability, GatewayParts, InMemoryBudget, InMemoryCallLog,
    ModelCall, ModelRoute,
};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{ChatEvent, Gateway, ModelError, ModelTarget};
use munshi_test_support::model_server::{FakeModelAnswer, FakeModelStep, Fixture};
use munshi_types::{Random, SystemClock, TenantId};
use serde_json::json;

use crate::wires::scene::{WIRES, cut, hear, request, server, target, wires};

/// The shortest pause there is.
#[derive(Debug)]
struct Least;

impl Random for Least {
    fn fill(&self, bytes: &mut [u8]) {
        munshi_types::SystemRandom.fill(bytes);
    }

    fn next_below(&self, _bound: u64) -> u64 {
        0
    }
}

struct Through {
    gateway: Gateway,
    tab: Arc<InMemoryCallLog>,
    budget: Arc<InMemoryBudget>,
    call: ModelCall,
}

fn through(target: &ModelTarget, wire: &str) -> Through {
    let gateway = Gateway::new(GatewayParts {
        targets: vec![target.clone()],
        provider: Arc::new(wires()),
        prices: PriceBook::default(),
        clock: Arc::new(SystemClock),
        random: Arc::new(Least),
    });
    let tab: Arc<InMemoryCallLog> = Arc::default();
    let budget = Arc::new(InMemoryBudget::new(CallSpend { tokens: 1 << 40, ..CallSpend::default() }));
    let account = CallBilling {
        tenant: TenantId::PLATFORM,
        about: CallSubject::default(),
        budget: budget.clone(),
        tab: tab.clone(),
        prices: None,
        prompt: None,
    };
    let route = ModelRoute {
        targets: [(Capability::Default, vec![target.name.clone()])].into(),
        ..ModelRoute::default()
    };
    let request = Arc::new(request(wire, "text"));
    let call =
        ModelCall { wanted: Capability::Default, route: Arc::new(route), request, account, veil: None };
    Through { gateway, tab, budget, call }
}

impl Through {
    async fn ask(&self) -> (String, Option<ModelError>) {
        let mut live = match self.gateway.stream(self.call.clone()).await {
            Ok(live) => live,
            Err(fault) => return (String::new(), Some(fault)),
        };
        let mut text = String::new();
        while let Some(event) = live.next().await {
            match event {
                Ok(ChatEvent::Text(more)) => text.push_str(&more),
                Ok(_) => {}
                Err(fault) => return (text, Some(fault)),
            }
        }
        (text, None)
    }
}

#[tokio::test]
async fn a_line_cut_between_any_two_events() {
    for wire in WIRES {
        let server = server(wire).await;
        let target = target(wire, &server.url());
        let fixture = Fixture::load(wire, "text");
        let whole = hear(&wires(), &target, &request(wire, "text")).await.text();
        let ends = fixture.boundaries();
        for at in ends[..ends.len() - 1].iter().copied() {
            cut(&server, &fixture, at, vec![FakeModelStep::Cut]);
            let heard = hear(&wires(), &target, &request(wire, "text")).await;
            if heard.is_finished() {
                continue;
            }
            let through = through(&target, wire);
            let before = server.stats().requests;
            cut(&server, &fixture, at, vec![FakeModelStep::Cut]);
            let (text, fault) = through.ask().await;
            let has_spoken = heard.events.iter().any(ChatEvent::is_delta);
            let expected = if has_spoken {
                (heard.text(), Some(ModelError::Interrupted))
            } else {
                (whole.clone(), None)
            };
            assert_eq!((text, fault), expected, "{wire} at {at}");
            let asked = server.stats().requests - before;
            assert_eq!(asked, if has_spoken { 1 } else { 2 }, "{wire} at {at}");
            let records = through.tab.take();
            assert_eq!((records.len(), records[0].ending.code()), (asked, "interrupted"), "{wire} at {at}");
            let used: u64 = records.iter().map(|record| record.usage.total()).sum();
            assert_eq!(through.budget.spent().tokens, used, "{wire} at {at}");
            assert!(records[0].usage.input > 0, "it was sent, so it counts: {wire} at {at}");
        }
    }
}

#[tokio::test]
async fn refusals_cost_nothing_and_are_tried_again_where_that_may_help() {
    for wire in WIRES {
        let server = server(wire).await;
        let target = target(wire, &server.url());
        let whole = hear(&wires(), &target, &request(wire, "text")).await.text();
        let error = json!({"error": {"type": "x", "code": "x", "status": "x", "message": "no"}});
        for (status, passes) in
            [(429, true), (500, true), (503, true), (529, true), (400, false), (401, false)]
        {
            let through = through(&target, wire);
            let before = server.stats().requests;
            server.enqueue_answer(FakeModelAnswer::json(status, &error));
            let (text, fault) = through.ask().await;
            let records = through.tab.take();
            assert_eq!(records[0].usage.total(), 0, "{wire} {status}");
            if passes {
                assert_eq!((text, fault), (whole.clone(), None), "{wire} {status}");
                assert_eq!(server.stats().requests - before, 2, "{wire} {status}");
            } else {
                assert_eq!((fault.is_some(), server.stats().requests - before), (true, 1), "{wire} {status}");
            }
        }
    }
}
