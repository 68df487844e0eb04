//! Limits that are reached: which one is said, and what still answers.

use munshi_agent::RunOutcome;
use munshi_conversations::{HaltReason, RunState};
use munshi_llm::{ModelTarget, WireFormat};
use munshi_safety::budget::{
    self, BudgetLane, BudgetLimitSubject, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope,
};
use munshi_test_support::administer;
use munshi_test_support::database::MORNING;
use munshi_test_support::models::ScriptedTurn;

use crate::turns::support::{Plan, Shop};

async fn limit(shop: &Shop, scope: BudgetScope, period: BudgetPeriod, measure: BudgetMeasure, most: u64) {
    let on = BudgetLimitSubject { lane: BudgetLane::People, scope, id: None, period, measure };
    let set = move |tx: &mut munshi_store::Tx<'_>| {
        administer(tx, |tx| budget::set_limit(tx, on, BudgetLimitValue::AtMost(most), MORNING))
    };
    shop.db.write(shop.tenant, set).await.unwrap();
}

/// The sentence that was said, and the limit that the run names.
fn refused(shop: &Shop, outcome: &RunOutcome, phrase: &str) -> String {
    let english = munshi_lang::Locale::all().next().unwrap();
    assert_eq!(outcome.text, shop.book.render(phrase, english, &[]).unwrap(), "{outcome:?}");
    match &outcome.halt {
        Some(HaltReason::OverBudget(which)) => which.clone(),
        other => panic!("{other:?}"),
    }
}

async fn interactions(shop: &Shop) -> i64 {
    let sql = "SELECT COALESCE(MAX(used_interactions), 0) FROM usage_counters WHERE tenant_id = $1 AND slot = 'people 0 2026-11'";
    shop.number(sql).await
}

on_both! {
    async fn what_is_said_goes_by_the_limit(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("One.")]).await;
        limit(&shop, BudgetScope::Person, BudgetPeriod::Day, BudgetMeasure::Interactions, 1).await;
        assert_eq!(shop.ask("1", "hello there").await.text, "One.");
        let which = refused(&shop, &shop.ask("2", "hello again").await, "limit-today");
        assert!(which.starts_with("this person's limit for the day is 1 interactions"), "{which}");

        limit(&shop, BudgetScope::Tenant, BudgetPeriod::Month, BudgetMeasure::Interactions, 1).await;
        let which = refused(&shop, &shop.ask("3", "hello once more").await, "limit-month");
        assert!(which.starts_with("this tenant's limit for the month"), "{which}");

        limit(&shop, BudgetScope::Binding, BudgetPeriod::Day, BudgetMeasure::Tokens, 10).await;
        let which = refused(&shop, &shop.ask("4", "and one more time").await, "limit-too-small");
        assert!(which.starts_with("this binding's limit for the day is 10 tokens"), "{which}");
        assert_eq!(shop.model.requests().len(), 1);
    }

    async fn without_money_the_model_of_this_machine_answers(test: TestDb) {
        let targets = vec![ModelTarget::new("one", WireFormat::OpenAi, "", "m"), ModelTarget::offline()];
        let script = [ScriptedTurn::text("For nothing.")];
        let shop = Shop::open_with(&test, script, Plan { targets, ..Plan::default() }).await;
        limit(&shop, BudgetScope::Tenant, BudgetPeriod::Month, BudgetMeasure::Money, 1).await;
        let outcome = shop.ask("1", "hello there").await;
        assert_eq!((outcome.text.as_str(), outcome.state), ("For nothing.", RunState::Done), "{outcome:?}");
        assert!(!outcome.degraded);
        let asked: Vec<String> = shop.model.requests().into_iter().map(|asked| asked.target).collect();
        assert_eq!(asked, ["offline"], "nobody who costs something was asked");
        assert_eq!((outcome.usage.cost_micros, interactions(&shop).await), (Some(0), 1), "free, and it counts");
        let money = "SELECT COALESCE(MAX(used_money + held_money), 0) FROM usage_counters WHERE tenant_id = $1";
        assert_eq!(shop.number(money).await, 0);

        limit(&shop, BudgetScope::Tenant, BudgetPeriod::Month, BudgetMeasure::Interactions, 1).await;
        let which = refused(&shop, &shop.ask("2", "hello again").await, "limit-month");
        assert!(which.contains("interactions"), "the limit that no model helps against: {which}");
    }
}
