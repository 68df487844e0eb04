//! The ledger as it is read.

use std::time::Duration;

use munshi_safety::budget::{
    BudgetAmount, BudgetLane, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope, UsageDimension,
    list_limit_statuses, list_usage, sum_unsettled,
};
use munshi_test_support::on_both_engines;
use munshi_types::Id;

use crate::budget::support::{Scene, on, tenant_alone, tokens};

const DAY: Duration = Duration::from_secs(86_400);

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn what_was_used_by_day_by_binding_and_by_person(test: TestDb) {
        let scene = Scene::of(&test).await;
        let (one, other) = (scene.person(), scene.person());
        scene.spend(&one, BudgetAmount { output: 4, ..tokens(10) }).await;
        scene.clock.advance(DAY);
        scene.spend(&one, BudgetAmount { tokens: 5, ..BudgetAmount::delegated_job() }).await;
        scene.spend(&other, tokens(7)).await;
        scene.spend(&tenant_alone(BudgetLane::Background), tokens(100)).await;

        let read = |since: &'static str, by| scene.db.read(scene.tenant, move |tx| list_usage(tx, since, by));
        let days = read("2026-11-15", UsageDimension::Day).await.unwrap();
        let told: Vec<_> =
            days.iter().map(|line| (line.day.as_deref().unwrap(), line.lane, line.used.tokens, line.used.jobs)).collect();
        assert_eq!(
            told,
            [
                ("2026-11-16", BudgetLane::People, 12, 1),
                ("2026-11-16", BudgetLane::Background, 100, 0),
                ("2026-11-15", BudgetLane::People, 10, 0)
            ]
        );
        assert_eq!(days[2].used.output_tokens, 4);
        let persons = read("2026-11-15", UsageDimension::Person).await.unwrap();
        let of = |lines: &[munshi_safety::budget::UsageLine], id| {
            lines.iter().find(|line| line.id == Some(id)).map(|line| line.used.tokens)
        };
        let (first, second) = (one.person.unwrap().as_uuid(), other.person.unwrap().as_uuid());
        assert_eq!((of(&persons, first), of(&persons, second)), (Some(15), Some(7)));
        let bindings = read("2026-11-16", UsageDimension::Binding).await.unwrap();
        assert_eq!(of(&bindings, one.binding.unwrap().as_uuid()), Some(5), "since the second day only");
    }

    async fn what_is_left_of_each_limit(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(100)).await;
        let now = scene.now();
        let look = |now| {
            let (settings, asked) = (scene.governor.settings().clone(), account.clone());
            scene.db.read(scene.tenant, move |tx| list_limit_statuses(tx, &settings, &asked, now))
        };
        let tokens_of = |standings: Vec<munshi_safety::budget::BudgetLimitStatus>| {
            let found = standings.into_iter().find(|standing| standing.on.measure == BudgetMeasure::Tokens).unwrap();
            (found.used, found.held, found.left)
        };
        let before = look(now).await.unwrap();
        assert!(before.iter().any(|standing| standing.on.scope == BudgetScope::Person), "also where nothing was used");
        assert_eq!(tokens_of(before), (0, 0, 100));
        scene.spend(&account, tokens(20)).await;
        scene.reserve(&account, tokens(30)).await;
        assert_eq!(tokens_of(look(now).await.unwrap()), (20, 30, 50));
        scene.clock.advance(Duration::from_secs(3600));
        let later = scene.now();
        assert_eq!(tokens_of(look(later).await.unwrap()), (20, 0, 80), "expired, so not held");
        let (count, most) = scene.db.read(scene.tenant, move |tx| sum_unsettled(tx, later)).await.unwrap();
        assert_eq!((count, most.tokens), (1, 30));
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(5)).await;
        assert_eq!(tokens_of(look(later).await.unwrap()).2, 0);
    }
}
