//! The tools of the house, called as a visitor calls them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use munshi_identity::Principal;
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_tools::{NoActJournal, ToolAnswer, ToolCallRequest, ToolDispatcher, ToolRegistry, builtin};
use munshi_types::{Conduct, FakeClock, Timestamp};
use serde_json::{Value, json};

async fn called(test: &TestDb, name: &str, arguments: Value) -> ToolAnswer {
    let night: Timestamp = "2026-11-14T20:00:00Z".parse().unwrap();
    let clock = Arc::new(FakeClock::new(night));
    let mut registry = ToolRegistry::default();
    builtin::install(&mut registry, clock.clone()).unwrap();
    let act_services =
        ActServices::new(test.ids.clone(), BudgetGovernor::new(BudgetSettings::default(), test.ids.clone()));
    let dispatcher = ToolDispatcher::new(test.db.clone(), Arc::new(act_services), Arc::new(registry), clock);
    let tenant = test.add_tenant(name).await;
    let want = ToolCallRequest {
        act: test.ids.next(),
        name: name.to_owned(),
        arguments,
        offered: true,
        wanted: ProposalMode::Act,
        caller: ActCaller {
            principal: Principal::anonymous(tenant),
            door: CallerAudience::Public,
            binding: None,
            run: None,
            session: None,
            zone: "America/New_York".parse().unwrap(),
            language: None,
            background: false,
            key: None,
            ceiling: None,
        },
        agent: Arc::new(Conduct { read: "house.*".parse().into_iter().collect(), ..Conduct::default() }),
        taint: Taint::default(),
        concerns: Vec::new(),
    };
    dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap()
}

fn value(answer: &ToolAnswer) -> &Value {
    match answer {
        ToolAnswer::Done(seen) => &seen.value,
        other => panic!("{other:?}"),
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn the_tools_of_the_house_answer_anybody(test: TestDb) {
        let today = called(&test, "today", json!({})).await;
        assert_eq!(value(&today)["date"], "2026-11-14", "in the tenant's own zone");
        assert_eq!(value(&today)["weekday"], "Saturday");
        let sum = called(&test, "calculate", json!({ "expression": "0.1 + 0.2" })).await;
        assert_eq!(value(&sum), &json!({ "expression": "0.1 + 0.2", "result": "0.3", "exact": true }));
    }

    async fn a_sum_that_is_none_says_what_to_write(test: TestDb) {
        let answer = called(&test, "calculate", json!({ "expression": "18%" })).await;
        let ToolAnswer::Failed { code, retryable, detail, .. } = answer else { panic!("{answer:?}") };
        assert_eq!((code.as_str(), retryable), ("bad_expression", false));
        assert!(detail.contains("18/100 * 250"), "{detail}");
    }
}
