//! What refuses for a while and what refuses without end.

use std::sync::Arc;
use std::time::Duration;

use munshi_safety::acts::{self, ActRecovery, ActState};
use munshi_safety::approvals::{self, Approval, ApprovalCoverage, ApprovalDecision as Said};
use munshi_safety::audit;
use munshi_store::tenants::{TENANTS, set_status};
use munshi_test_support::{TestDb, administer, on_both_engines, wait_until};
use munshi_tools::{NoActJournal, ToolAnswer, ToolCallRequest};
use munshi_types::{Clock, TenantStatus};
use serde_json::{Value, json};

use crate::stack::support::{Death, MIGRATIONS, Shop, World, begun, events, notes};

const OPEN: &str = "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\nask = [\"shop.paid\"]\n\
                    [connectors.elsewhere]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// Something that waits, to which the owner says yes.
async fn approved(shop: &Shop, test: &TestDb, name: &str) -> Approval {
    let ToolAnswer::Waiting(approval) = shop.call(shop.want(name, json!({ "text": "a" }))).await else {
        panic!("{name} does not wait");
    };
    let (act_services, id, who, now) =
        (shop.act_services.clone(), approval.id, shop.owner.clone(), test.clock.now());
    let granted = test.db.write(shop.tenant, move |tx| {
        let said = approvals::ApprovalAnswer {
            who: &who,
            answer: Said::Yes,
            shown: None,
            covers: ApprovalCoverage::Act,
            via: "test",
            key: None,
            source: munshi_safety::approvals::AnswerSource::Page,
        };
        approvals::answer(tx, &act_services, id, &said, now)
    });
    assert!(matches!(granted.await.unwrap(), approvals::ApprovalAnswerOutcome::Granted(_)));
    *approval
}

async fn set(shop: &Shop, test: &TestDb, status: TenantStatus) {
    let tenant = shop.tenant;
    test.db
        .platform(TENANTS)
        .write(move |tx| munshi_test_support::administer_platform(tx, |tx| set_status(tx, tenant, status)))
        .await
        .unwrap();
}

async fn counts(shop: &Shop, test: &TestDb) -> Vec<u64> {
    let entries = test.db.read(shop.tenant, |tx| audit::list_after(tx, 0, 10_000)).await.unwrap();
    let together = entries.iter().filter(|entry| entry.event == "acts.refused");
    let payloads = together.map(|entry| serde_json::from_str::<Value>(&entry.payload).unwrap());
    payloads.map(|payload| payload["refused"].as_u64().unwrap()).collect()
}

fn hopeless(shop: &Shop) -> ToolCallRequest {
    shop.want("no_such", json!({}))
}

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn what_was_approved_waits_for_a_rate_and_is_done_then(test: TestDb) {
        let shop = Shop::open(&test).await;
        let approval = approved(&shop, &test, "wipe").await;
        shop.set_policy(&test.db, &format!("{OPEN}[rates]\nwrites_per_minute = 1\n"), test.clock.now()).await;
        test.clock.advance(Duration::from_secs(60));
        assert!(matches!(shop.call(shop.want("note", json!({ "text": "a" }))).await, ToolAnswer::Done(_)));
        let answer = shop.resume(approval.act).await;
        let ToolAnswer::Refused(refusal) = &answer else { panic!("{answer:?}") };
        assert_eq!(answer.render_for_model()["code"], "over_limit");
        let again_at = refusal.again_at.unwrap();
        assert!(again_at > test.clock.now() && again_at <= test.clock.now().plus(Duration::from_secs(60)));
        assert_eq!(answer.render_for_model()["again_at"], json!(again_at));
        assert_eq!(shop.act(&test.db, approval.act).await.unwrap().state, ActState::Waiting);
        assert_eq!(events(&test.db, shop.tenant).await.last().unwrap(), "act.refused");
        test.clock.set(again_at);
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Done(_)));
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Done(_)), "told, not repeated");
        assert_eq!(World::at(&shop.folder, Death::Never, true).lines().len(), 1);
    }

    async fn what_was_approved_waits_for_money_until_its_approval_expires(test: TestDb) {
        use munshi_safety::budget::{BudgetLimitSubject, BudgetLimitValue, BudgetLane, BudgetMeasure, BudgetPeriod, BudgetScope, set_limit};
        let shop = Shop::open(&test).await;
        shop.set_policy(&test.db, OPEN, test.clock.now()).await;
        let now = test.clock.now();
        let limit = move |to| move |tx: &mut munshi_store::Tx<'_>| {
            let on = BudgetLimitSubject { lane: BudgetLane::People, scope: BudgetScope::Tenant, id: None, period: BudgetPeriod::Day, measure: BudgetMeasure::Money };
            administer(tx, |tx| set_limit(tx, on, to, now))
        };
        let first = approved(&shop, &test, "paid").await;
        let second = approved(&shop, &test, "paid").await;
        test.db.write(shop.tenant, limit(BudgetLimitValue::AtMost(1))).await.unwrap();
        for approval in [&first, &second] {
            assert_eq!(shop.resume(approval.act).await.render_for_model()["code"], "over_limit");
        }
        let held = |tx: &mut munshi_store::Tx<'_>| {
            tx.one("SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1", &[], |row| row.get::<i64>(0))
        };
        assert_eq!(test.db.read(shop.tenant, held).await.unwrap(), 0);
        test.db.write(shop.tenant, limit(BudgetLimitValue::AtMost(1_000_000))).await.unwrap();
        assert!(matches!(shop.resume(first.act).await, ToolAnswer::Done(_)));
        assert_eq!(notes(&test.db, shop.tenant).await, 1);
        test.clock.advance(Duration::from_secs(24 * 3600));
        assert!(matches!(shop.resume(second.act).await, ToolAnswer::Waiting(_)), "its time is over");
        assert_eq!(shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap().expired, 1);
        assert!(matches!(shop.resume(second.act).await, ToolAnswer::Dropped { .. }));
        assert_eq!(notes(&test.db, shop.tenant).await, 1);
    }

    async fn a_yes_that_is_not_enough_any_more_is_refused_for_good(test: TestDb) {
        let shop = Shop::open(&test).await;
        let approval = approved(&shop, &test, "wipe").await;
        shop.set_policy(&test.db, "[connectors.elsewhere]\nautonomy = \"investigate\"\n", test.clock.now()).await;
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Refused(_)));
        assert_eq!(shop.act(&test.db, approval.act).await.unwrap().state, ActState::Refused);
    }

    async fn nothing_is_done_while_the_tenant_is_paused(test: TestDb) {
        let shop = Shop::open(&test).await;
        let approval = approved(&shop, &test, "wipe").await;
        set(&shop, &test, TenantStatus::Paused).await;
        for tool in ["note", "count", "fetch", "book"] {
            let want = shop.want(tool, json!({ "text": "a" }));
            let act = want.act;
            assert_eq!(shop.call(want).await.render_for_model()["code"], "paused", "{tool}");
            assert_eq!(shop.act(&test.db, act).await.unwrap().state, ActState::Refused);
        }
        assert_eq!(shop.resume(approval.act).await.render_for_model()["code"], "paused");
        assert_eq!(shop.act(&test.db, approval.act).await.unwrap().state, ActState::Waiting);
        assert_eq!((notes(&test.db, shop.tenant).await, World::at(&shop.folder, Death::Never, true).lines().len()), (0, 0));
        set(&shop, &test, TenantStatus::Active).await;
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Done(_)));
        set(&shop, &test, TenantStatus::Archived).await;
        assert_eq!(shop.call(shop.want("count", json!({}))).await.render_for_model()["code"], "paused");
    }

    async fn what_lapsed_is_not_taken_up_for_a_tenant_that_was_paused_meanwhile(test: TestDb) {
        let shop = Shop::open(&test).await;
        let want = shop.want("book", json!({ "mood": "waits" }));
        let act = want.act;
        let call = shop.dispatcher.call(want, Arc::new(NoActJournal));
        let other = async {
            wait_until(async || begun(&test.db, shop.tenant).await == 1).await;
            test.clock.advance(Duration::from_secs(3600));
            set(&shop, &test, TenantStatus::Paused).await;
            let (act_services, now) = (shop.act_services.clone(), test.clock.now());
            let tool = shop.dispatcher.registry().get("book").unwrap().known.clone();
            test.db.write(shop.tenant, move |tx| acts::recover(tx, &act_services, (act, acts::TakeoverReason::Lapsed), Some(&tool), now)).await.unwrap()
        };
        let (ended, recovery) = tokio::join!(call, other);
        assert!(matches!(recovery, ActRecovery::NotOurs), "{recovery:?}");
        // Who was calling when it was paused writes down what came of it.
        assert!(matches!(ended.unwrap(), ToolAnswer::Done(_)));
    }

    async fn refusals_without_end_are_counted_and_told_together(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.set_policy(&test.db, &format!("{OPEN}[rates]\nrefused_per_minute = 5\n"), test.clock.now()).await;
        let mut known = None;
        for number in 0..40 {
            let want = hopeless(&shop);
            let (act, answer) = (want.act, shop.call(want).await);
            let (code, stored) = (answer.render_for_model()["code"].clone(), shop.act(&test.db, act).await);
            if number < 5 {
                assert_eq!((code, stored.is_some()), (json!("unknown_tool"), true));
                known = Some(act);
            } else {
                assert_eq!((code, stored.is_some()), (json!("too_many_refused"), false));
                assert!(answer.render_for_model()["again_at"].is_string() && answer.render_for_model()["retryable"] == true);
            }
        }
        // Another proposal under a known id is one more.
        let mut changed = shop.want("note", json!({ "text": "a" }));
        changed.act = known.unwrap();
        assert_eq!(shop.call(changed).await.render_for_model()["code"], "too_many_refused");
        // Somebody else, and what may be done, go on as before.
        let mut other = hopeless(&shop);
        other.caller.principal = shop.owner.clone();
        assert_eq!(shop.call(other).await.render_for_model()["code"], "unknown_tool");
        assert!(matches!(shop.call(shop.want("note", json!({ "text": "a" }))).await, ToolAnswer::Done(_)));
        assert_eq!(counts(&shop, &test).await, [0u64; 0]);
        assert_eq!(shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap().refused, 0, "not yet");
        test.clock.advance(Duration::from_secs(61));
        assert_eq!(shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap().refused, 36);
        assert_eq!(shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap().refused, 0);
        assert_eq!(counts(&shop, &test).await, [36]);
        let told = events(&test.db, shop.tenant).await;
        assert_eq!(told.iter().filter(|event| *event == "act.refused").count(), 6, "{told:?}");
        assert_eq!(shop.call(hopeless(&shop)).await.render_for_model()["code"], "unknown_tool", "looked at again");
    }

    async fn a_flood_that_goes_on_is_told_by_itself_once_a_minute(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.set_policy(&test.db, &format!("{OPEN}[rates]\nrefused_per_minute = 1\n"), test.clock.now()).await;
        for _ in 0..240 {
            shop.call(hopeless(&shop)).await;
            test.clock.advance(Duration::from_secs(1));
        }
        let (told, counts) = (events(&test.db, shop.tenant).await, counts(&shop, &test).await);
        let apart = told.iter().filter(|event| *event == "act.refused").count();
        assert_eq!(told.len(), apart + counts.len());
        assert!(apart <= 5 && (2..=4).contains(&counts.len()), "{apart} apart, {counts:?} together");
    }
}
