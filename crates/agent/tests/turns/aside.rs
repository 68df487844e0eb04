//! What was set aside with a message, and what it pays for.

use std::time::Duration;

use munshi_agent::MessageReceipt;
use munshi_conversations::{HaltReason, IngestStatus};
use munshi_safety::budget::{
    BudgetLane, BudgetLimitSubject, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope, set_limit,
};
use munshi_store::Tx;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, administer, wait_until};
use munshi_types::Clock;

use crate::turns::support::Shop;

/// A shop with a message behind another, which is answered once the gate is open, and from now on nothing more to spend
/// than what was set aside before.
async fn queued(test: &TestDb) -> (Shop, MessageReceipt, ScriptGate) {
    let gate = ScriptGate::default();
    let shop =
        Shop::open(test, [ScriptedTurn::text("First.").with_gate(&gate), ScriptedTurn::text("Second.")])
            .await;
    shop.say("1", "the first thing").await;
    wait_until(async || !shop.model.requests().is_empty()).await;
    let second = shop.say("2", "the second thing").await;
    assert!(matches!(second.status, IngestStatus::Queued { .. }));
    let now = test.clock.now();
    let limit = move |tx: &mut Tx<'_>| {
        let (lane, scope, period, measure) =
            (BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens);
        let on = BudgetLimitSubject { lane, scope, id: None, period, measure };
        administer(tx, |tx| set_limit(tx, on, BudgetLimitValue::AtMost(0), now))
    };
    shop.db.write(shop.tenant, limit).await.unwrap();
    (shop, second, gate)
}

on_both! {
    async fn what_was_set_aside_is_spent(test: TestDb) {
        let (shop, second, gate) = queued(&test).await;
        gate.open();
        assert_eq!(shop.outcome(&second).await.text, "Second.");
    }

    async fn what_has_expired_is_asked_for_anew(test: TestDb) {
        let (shop, second, gate) = queued(&test).await;
        test.clock.advance(Duration::from_secs(901));
        gate.open();
        let outcome = shop.outcome(&second).await;
        assert!(matches!(outcome.halt, Some(HaltReason::OverBudget(_))), "{outcome:?}");
        assert_eq!(shop.model.requests().len(), 1, "nothing was asked that nobody could pay");
    }

    async fn no_more_is_spent_than_was_set_aside(test: TestDb) {
        let (shop, second, gate) = queued(&test).await;
        // As if the prices, or the agent, had been others when the message came.
        let less = |tx: &mut Tx<'_>| tx.execute("UPDATE usage_reservations SET tokens = 1 WHERE tenant_id = $1", munshi_store::params![]);
        shop.db.write(shop.tenant, less).await.unwrap();
        gate.open();
        let outcome = shop.outcome(&second).await;
        assert!(matches!(outcome.halt, Some(HaltReason::OverBudget(_))), "{outcome:?}");
    }
}
