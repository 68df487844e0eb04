//! Plans and limits: the strictest wins, and says which it is.

use munshi_llm::pricing::Cost;
use munshi_safety::Error;
use munshi_safety::budget::{
    BudgetAmount, BudgetLane, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetRelease, BudgetScope,
    BudgetSettings, SettleOutcome, UsagePlan, set_limit,
};
use munshi_test_support::{administer, on_both_engines};
use munshi_types::Id;

use crate::budget::support::{Scene, cents, on, on_one, tenant_alone, tokens};

const DAY_TOKENS: (BudgetLane, BudgetPeriod, BudgetMeasure) =
    (BudgetLane::People, BudgetPeriod::Day, BudgetMeasure::Tokens);

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn a_plan_ends_with_its_last_interaction(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        scene.plan(UsagePlan::Free).await;
        for _ in 0..50 {
            scene.spend(&account, BudgetAmount::interaction()).await;
        }
        let refused = scene.try_reserve(&scene.person(), BudgetAmount::interaction()).await.unwrap_err();
        assert_eq!((refused.on.scope, refused.on.measure), (BudgetScope::Tenant, BudgetMeasure::Interactions));
        assert_eq!((refused.used, refused.limit, refused.held), (50, 50, 0));
        assert_eq!(
            refused.to_string(),
            "this tenant's limit for the month is 50 interactions: 50 used, 1 more requested; it resets at \
             2026-12-01 00:00 (Asia/Kolkata); plan starter has more"
        );
        // What costs nothing is not stopped by what is used up.
        scene.spend(&account, tokens(100)).await;
        // A dearer plan holds at once, and what was used stays used.
        scene.plan(UsagePlan::Starter).await;
        scene.spend(&account, BudgetAmount::interaction()).await;
        assert_eq!(scene.month(BudgetMeasure::Interactions).await, (51, 0));
        scene.plan(UsagePlan::Free).await;
        let refused = scene.try_reserve(&account, BudgetAmount::interaction()).await.unwrap_err();
        assert_eq!((refused.used, refused.limit), (51, 50), "a limit below what is used is no error");
    }

    async fn unlimited_still_has_a_ceiling_in_money(test: TestDb) {
        let scene = Scene::with(&test, BudgetSettings { person_money_day: None, tenant_money_day: None, ..BudgetSettings::default() }).await;
        scene.plan(UsagePlan::Business).await;
        let account = scene.person();
        for _ in 0..60 {
            scene.spend(&account, BudgetAmount::interaction()).await;
        }
        scene.spend(&account, cents(99_999)).await;
        let refused = scene.try_reserve(&account, cents(2)).await.unwrap_err();
        assert_eq!((refused.on.measure, refused.limit), (BudgetMeasure::Money, 1_000_000_000));
        assert!(refused.to_string().contains("is $1000.000000: $999.990000 used, $0.020000 more requested"), "{refused}");
        let ceiling = on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Month, BudgetMeasure::Money);
        let now = scene.now();
        let set = move |tx: &mut munshi_store::Tx<'_>| {
            administer(tx, |tx| set_limit(tx, ceiling, BudgetLimitValue::Unlimited, now))
        };
        assert!(matches!(scene.db.write(scene.tenant, set).await, Err(Error::Invalid(_))));
        scene.limit(ceiling, BudgetLimitValue::AtMost(2_000_000_000)).await;
        scene.spend(&account, cents(2)).await;
    }

    async fn the_strictest_of_tenant_binding_and_person_decides(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        let (binding, person) = (account.binding.unwrap(), account.person.unwrap());
        let (lane, period, measure) = DAY_TOKENS;
        scene.limit(on(lane, BudgetScope::Tenant, period, measure), BudgetLimitValue::AtMost(1_000)).await;
        scene.limit(on(lane, BudgetScope::Binding, period, measure), BudgetLimitValue::AtMost(500)).await;
        scene.limit(on(lane, BudgetScope::Person, period, measure), BudgetLimitValue::AtMost(100)).await;
        let strict = |refused: munshi_safety::budget::BudgetRefusal| (refused.on.scope, refused.on.id, refused.limit);

        scene.spend(&account, tokens(100)).await;
        let refused = scene.try_reserve(&account, tokens(1)).await.unwrap_err();
        assert_eq!(strict(refused), (BudgetScope::Person, Some(person.as_uuid()), 100));
        // One person's own limit goes before that of all persons.
        scene.limit(on_one(person.as_uuid(), on(lane, BudgetScope::Person, period, measure)), BudgetLimitValue::Unlimited).await;
        scene.spend(&account, tokens(400)).await;
        let refused = scene.try_reserve(&account, tokens(1)).await.unwrap_err();
        assert_eq!(strict(refused), (BudgetScope::Binding, Some(binding.as_uuid()), 500));
        let others = scene.person();
        let refused = scene.try_reserve(&others, tokens(101)).await.unwrap_err();
        assert_eq!((refused.on.scope, refused.frees), (BudgetScope::Person, BudgetRelease::Never));
        scene.limit(on(lane, BudgetScope::Person, period, measure), BudgetLimitValue::Default).await;
        scene.limit(on(lane, BudgetScope::Binding, period, measure), BudgetLimitValue::Unlimited).await;
        scene.spend(&others, tokens(500)).await;
        let refused = scene.try_reserve(&account, tokens(1)).await.unwrap_err();
        assert_eq!(strict(refused), (BudgetScope::Tenant, None, 1_000));
        // A refusal leaves nothing set aside anywhere.
        for scope in [BudgetScope::Tenant, BudgetScope::Binding, BudgetScope::Person] {
            assert_eq!(scene.counted(lane, scope, period, measure).await.1, 0, "{scope}");
        }
    }

    async fn of_two_limits_in_the_way_the_one_that_frees_last_is_told(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(10)).await;
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Month, BudgetMeasure::Tokens), BudgetLimitValue::AtMost(10)).await;
        scene.spend(&account, tokens(10)).await;
        let refused = scene.try_reserve(&account, tokens(1)).await.unwrap_err();
        assert_eq!(refused.on.period, BudgetPeriod::Month);
        assert_eq!(refused.frees.timestamp().unwrap().to_string(), "2026-11-30T18:30:00Z");
    }

    async fn what_others_have_set_aside_counts_and_says_that_it_frees_soon(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        scene.limit(on(BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day, BudgetMeasure::Jobs), BudgetLimitValue::AtMost(2)).await;
        let first = scene.reserve(&account, BudgetAmount::delegated_job()).await;
        scene.spend(&account, BudgetAmount::delegated_job()).await;
        let refused = scene.try_reserve(&account, BudgetAmount::delegated_job()).await.unwrap_err();
        assert_eq!((refused.used, refused.held), (1, 1));
        assert_eq!(refused.frees, BudgetRelease::UnderWay(scene.now().plus(scene.governor.settings().hold)));
        assert!(refused.to_string().ends_with("running calls release some soon"), "{refused}");
        assert_eq!(scene.settle(first, BudgetAmount::NOTHING).await, SettleOutcome::Now);
        scene.spend(&account, BudgetAmount::delegated_job()).await;
    }

    async fn background_work_has_a_pocket_of_its_own(test: TestDb) {
        let scene = Scene::of(&test).await;
        let (people, background) = (tenant_alone(BudgetLane::People), tenant_alone(BudgetLane::Background));
        scene.plan(UsagePlan::Free).await;
        // Interactions are free here, however many.
        for _ in 0..60 {
            scene.spend(&background, BudgetAmount::interaction()).await;
        }
        scene.spend(&background, cents(100)).await;
        let refused = scene.try_reserve(&background, cents(1)).await.unwrap_err();
        assert_eq!((refused.on.lane, refused.on.period, refused.limit), (BudgetLane::Background, BudgetPeriod::Month, 1_000_000));
        assert!(refused.to_string().starts_with("this tenant's limit of background work for the month"), "{refused}");
        scene.spend(&people, BudgetAmount { interactions: 50, ..cents(100) }).await;
        assert!(scene.try_reserve(&people, BudgetAmount::interaction()).await.is_err());
    }

    async fn other_settings_hold_from_the_next_reservation_on(test: TestDb) {
        let scene = Scene::with(&test, BudgetSettings { plan: UsagePlan::Free, ..BudgetSettings::default() }).await;
        let account = scene.person();
        scene.spend(&account, BudgetAmount { interactions: 50, ..BudgetAmount::NOTHING }).await;
        assert!(scene.try_reserve(&account, BudgetAmount::interaction()).await.is_err());
        let richer = scene.restarted(BudgetSettings { plan: UsagePlan::Pro, ..BudgetSettings::default() });
        richer.spend(&account, BudgetAmount::interaction()).await;
        assert!(scene.try_reserve(&account, BudgetAmount::interaction()).await.is_err(), "each node by its own settings");
    }

    async fn an_unknown_price_counts_as_the_worst_one(test: TestDb) {
        let scene = Scene::of(&test).await;
        let account = scene.person();
        let unknown = BudgetAmount { tokens: 100_000, money: None, ..BudgetAmount::NOTHING };
        let id = scene.reserve(&account, unknown).await;
        assert_eq!(scene.month(BudgetMeasure::Money).await, (0, 3_000_000));
        scene.settle(id, BudgetAmount { tokens: 50_000, money: None, ..BudgetAmount::NOTHING }).await;
        assert_eq!(scene.month(BudgetMeasure::Money).await, (1_500_000, 0));
        let rupees = scene.governor.settings().rates.to_dollars(munshi_types::Money::from_paise(85));
        assert_eq!(rupees, Cost::from_micros(10_000), "a tool's rupees go under the same ceiling");
        scene.spend(&account, BudgetAmount::money(rupees)).await;
        assert_eq!(scene.month(BudgetMeasure::Money).await.0, 1_510_000);
    }

    async fn a_tenant_sees_and_pays_for_nothing_of_another(test: TestDb) {
        let scene = Scene::of(&test).await;
        let other = Scene { tenant: test.add_tenant("other").await, ..scene.restarted(BudgetSettings::default()) };
        scene.plan(UsagePlan::Free).await;
        scene.spend(&tenant_alone(BudgetLane::People), BudgetAmount { interactions: 50, ..BudgetAmount::NOTHING }).await;
        let id = other.reserve(&tenant_alone(BudgetLane::People), BudgetAmount::interaction()).await;
        assert_eq!(scene.settle(id, BudgetAmount::interaction()).await, SettleOutcome::NotHeld, "nor settles it");
        assert_eq!(other.settle(id, BudgetAmount::interaction()).await, SettleOutcome::Now);
        assert_eq!((scene.month(BudgetMeasure::Interactions).await.0, other.month(BudgetMeasure::Interactions).await.0), (50, 1));
    }
}
