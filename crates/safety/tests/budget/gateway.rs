//! The durable budget as the gateway asks it.

use std::sync::Arc;

use munshi_llm::ModelError;
use munshi_llm::gateway::{CallBudget, CallSpend};
use munshi_llm::pricing::Cost;
use munshi_safety::budget::{
    BudgetLane, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope, DurableBudget,
};
use munshi_test_support::on_both_engines;

use crate::budget::support::{Scene, on};

fn spend(tokens: u64, micros: i64) -> CallSpend {
    CallSpend { tokens, output: tokens / 2, cost: Some(Cost::from_micros(micros)) }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn calls_are_bounded_and_booked(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        scene.limit(on(BudgetLane::People, BudgetScope::Person, BudgetPeriod::Day, BudgetMeasure::Money), BudgetLimitValue::AtMost(1_000)).await;
        let budget: Arc<dyn CallBudget> = Arc::new(DurableBudget {
            run: None,
            db: scene.db.clone(),
            governor: scene.governor.clone(),
            tenant: scene.tenant,
            account,
            clock: scene.clock.clone(),
        });
        let id = budget.reserve(spend(100, 900)).await.unwrap();
        let Err(ModelError::OverBudget(why)) = budget.reserve(spend(100, 101)).await else { panic!("over the limit") };
        assert!(why.starts_with("this person's limit for the day is $0.001000"), "{why}");
        budget.settle(id, spend(60, 400)).await;
        budget.settle(id, spend(60, 400)).await;
        assert_eq!(scene.month(BudgetMeasure::Money).await, (400, 0));
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (60, 0));
        // The model of this machine costs nothing, so nothing stops it.
        let free = budget.reserve(CallSpend { cost: Some(Cost::ZERO), ..CallSpend::default() }).await.unwrap();
        budget.settle(free, CallSpend { cost: Some(Cost::ZERO), ..CallSpend::default() }).await;
    }
}
