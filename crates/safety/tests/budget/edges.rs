//! Days and months end by the tenant's clock, and clocks are wrong at times.

use std::time::Duration;

use munshi_safety::budget::{
    BudgetAccount, BudgetAmount, BudgetLane, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope,
    SettleOutcome, UsagePlan,
};
use munshi_test_support::on_both_engines;
use munshi_types::Timestamp;

use crate::budget::support::{Scene, on, tenant_alone, tokens};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn a_new_day_is_free_again_at_the_tenants_midnight(test: TestDb) {
        let zones = [
            ("Asia/Kolkata", "2026-11-15T18:30:00Z"),
            ("Europe/London", "2026-10-26T00:00:00Z"),
            ("America/New_York", "2026-11-02T05:00:00Z"),
            ("Pacific/Kiritimati", "2026-11-15T10:00:00Z"),
        ];
        for (number, (zone, midnight)) in zones.into_iter().enumerate() {
            let tenant = test.add_tenant(&format!("shop-{number}")).await;
            let scene = Scene::of_tenant(&test, tenant);
            let account = BudgetAccount { zone: zone.parse().unwrap(), ..tenant_alone(BudgetLane::People) };
            scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(10)).await;
            scene.clock.set(at(midnight).minus(Duration::from_micros(1)));
            scene.spend(&account, tokens(10)).await;
            let refused = scene.try_reserve(&account, tokens(1)).await.unwrap_err();
            assert_eq!(refused.frees.timestamp(), Some(at(midnight)), "{zone}");
            scene.clock.set(at(midnight));
            scene.spend(&account, tokens(10)).await;
            assert!(scene.try_reserve(&account, tokens(1)).await.is_err());
        }
    }

    async fn a_new_month_is_free_again_and_the_old_one_stays_in_the_books(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        scene.plan(UsagePlan::Free).await;
        scene.clock.set(at("2026-12-31T18:29:59Z"));
        scene.spend(&account, BudgetAmount { interactions: 49, ..BudgetAmount::NOTHING }).await;
        let over_the_edge = scene.reserve(&account, BudgetAmount::interaction()).await;
        assert!(scene.try_reserve(&account, BudgetAmount::interaction()).await.is_err());
        scene.clock.set(at("2026-12-31T18:30:00Z"));
        scene.spend(&account, BudgetAmount { interactions: 50, ..BudgetAmount::NOTHING }).await;
        // What was set aside last month is booked in last month.
        assert_eq!(scene.settle(over_the_edge, BudgetAmount::interaction()).await, SettleOutcome::Now);
        assert_eq!(scene.month(BudgetMeasure::Interactions).await, (50, 0));
        scene.clock.set(at("2026-12-31T18:29:59Z"));
        let refused = scene.try_reserve(&account, BudgetAmount::interaction()).await.unwrap_err();
        assert_eq!(refused.used, 50, "also for a clock that has gone back");
    }

    async fn a_clock_that_was_far_ahead_leaves_nothing_stuck(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Month, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(100)).await;
        let right = scene.now();
        // Within the month, so that the same counter holds it.
        scene.clock.set(right.plus(Duration::from_secs(10 * 86_400)));
        let ahead = scene.reserve(&account, tokens(100)).await;
        scene.clock.set(right);
        scene.spend(&account, tokens(30)).await;
        assert_eq!(scene.settle(ahead, tokens(20)).await, SettleOutcome::Late);
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (50, 0));
    }

    async fn a_clock_a_little_behind_counts_the_same(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(100)).await;
        let held = scene.reserve(&account, tokens(60)).await;
        scene.clock.set(scene.now().minus(Duration::from_secs(60)));
        assert!(scene.try_reserve(&account, tokens(41)).await.is_err(), "still held for the node that is behind");
        scene.spend(&account, tokens(40)).await;
        scene.settle(held, tokens(60)).await;
        assert_eq!(scene.month(BudgetMeasure::Tokens).await, (100, 0));
    }
}
