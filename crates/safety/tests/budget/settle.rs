//! Settled once, released, expired, settled late.

use std::time::Duration;

use munshi_llm::pricing::Cost;
use munshi_safety::Error;
use munshi_safety::budget::{
    BudgetAmount, BudgetLane, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope, SettleOutcome,
};
use munshi_test_support::on_both_engines;

use crate::budget::support::{Scene, on, tenant_alone, tokens};

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn settling_books_the_truth_once(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        let most = BudgetAmount { tokens: 1_000, money: Some(Cost::from_micros(500)), ..BudgetAmount::interaction() };
        let id = scene.reserve(&account, most).await;
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (0, 1_000));
        let spent = BudgetAmount { tokens: 300, output: 100, money: Some(Cost::from_micros(120)), ..BudgetAmount::interaction() };
        assert_eq!(scene.settle(id, spent).await, SettleOutcome::Now);
        assert_eq!(scene.settle(id, spent).await, SettleOutcome::NotHeld);
        for scope in [BudgetScope::Tenant, BudgetScope::Binding, BudgetScope::Person] {
            for period in [BudgetPeriod::Day, BudgetPeriod::Month] {
                for (measure, used) in [(BudgetMeasure::Interactions, 1), (BudgetMeasure::Tokens, 300), (BudgetMeasure::Money, 120)] {
                    let counted = scene.counted(BudgetLane::People, scope, period, measure).await;
                    assert_eq!(counted, (used, 0), "{scope} {period} {measure}");
                }
            }
        }
        // More than was set aside is booked too: it was spent.
        let id = scene.reserve(&account, tokens(10)).await;
        scene.settle(id, tokens(25)).await;
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (325, 0));
    }

    async fn an_excuse_costs_the_person_nothing(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        let id = scene.reserve(&account, BudgetAmount { tokens: 500, ..BudgetAmount::interaction() }).await;
        scene.settle(id, BudgetAmount { tokens: 200, ..BudgetAmount::interaction() }.without_billing()).await;
        assert_eq!(scene.month(BudgetMeasure::Interactions).await, (0, 0));
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (200, 0), "what it cost us is kept");
    }

    async fn what_is_released_can_be_had_by_others(test: TestDb) {
        let scene = Scene::of(&test).await;
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(100)).await;
        let id = scene.reserve(&scene.person(), tokens(100)).await;
        assert!(scene.try_reserve(&scene.person(), tokens(1)).await.is_err());
        let governor = scene.governor.clone();
        let released = scene.db.write(scene.tenant, move |tx| governor.release(tx, id)).await.unwrap();
        assert_eq!(released, SettleOutcome::Now);
        scene.spend(&scene.person(), tokens(100)).await;
    }

    async fn what_expires_stops_counting_without_a_sweep(test: TestDb) {
        let scene = Scene::of(&test).await;
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(100)).await;
        let lost = scene.reserve(&scene.person(), tokens(60)).await;
        let also = scene.reserve(&scene.person(), tokens(40)).await;
        scene.clock.advance(scene.governor.settings().hold - Duration::from_micros(1));
        assert!(scene.try_reserve(&scene.person(), tokens(1)).await.is_err(), "not a moment before");
        scene.clock.advance(Duration::from_micros(1));
        let next = scene.reserve(&scene.person(), tokens(100)).await;
        assert_eq!(scene.counted(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens).await, (0, 100));
        // What was spent is spent: booked late, once, though it goes over.
        assert_eq!(scene.settle(lost, tokens(50)).await, SettleOutcome::Late);
        assert_eq!(scene.settle(lost, tokens(50)).await, SettleOutcome::NotHeld);
        assert_eq!(scene.settle(next, tokens(100)).await, SettleOutcome::Now);
        assert_eq!(scene.settle(also, BudgetAmount::NOTHING).await, SettleOutcome::Late);
        assert_eq!(scene.counted(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens).await, (150, 0));
    }

    async fn one_that_expired_unnoticed_is_settled_as_usual(test: TestDb) {
        let scene = Scene::of(&test).await;
        let id = scene.reserve(&scene.person(), tokens(60)).await;
        scene.clock.advance(scene.governor.settings().hold * 2);
        assert_eq!(scene.settle(id, tokens(50)).await, SettleOutcome::Now, "nobody needed its room");
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (50, 0));
    }

    async fn a_unit_that_rolls_back_has_reserved_nothing(test: TestDb) {
        let scene = Scene::of(&test).await;
        scene.spend(&scene.person(), tokens(1)).await;
        let (governor, now) = (scene.governor.clone(), scene.now());
        let failed = scene.db.write(scene.tenant, move |tx| {
            governor.reserve(tx, &tenant_alone(BudgetLane::People), &tokens(10), now)?;
            Err::<(), _>(Error::Invalid("the message could not be stored".to_owned()))
        });
        assert!(failed.await.is_err());
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (1, 0));
    }

    async fn a_unit_goes_on_after_a_refusal(test: TestDb) {
        let scene = Scene::of(&test).await;
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(10)).await;
        let (governor, now) = (scene.governor.clone(), scene.now());
        let both = scene.db.write(scene.tenant, move |tx| {
            let account = tenant_alone(BudgetLane::People);
            let refused = governor.reserve(tx, &account, &tokens(11), now);
            assert!(matches!(refused, Err(Error::OverBudget(_))));
            governor.reserve(tx, &account, &tokens(10), now)
        });
        both.await.unwrap();
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (0, 10));
    }
}
