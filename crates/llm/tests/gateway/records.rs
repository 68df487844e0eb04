//! Every attempt is a row.

use std::sync::Arc;
use std::time::Duration;

use munshi_llm::calls::{self, MODELS, StoredCallLog};
use munshi_llm::gateway::{CallBilling, CallSpend, CallSubject};
use munshi_llm::pricing::Cost;
use munshi_store::PageRequest;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::on_both_engines;
use munshi_types::{IdGenerator, TenantId, Timestamp};

use uuid::Uuid;

use crate::gateway::scene::{Scene, down};

fn account(scene: &Scene, tenant: TenantId, tab: &StoredCallLog) -> CallBilling {
    let about = CallSubject { run: Some(Uuid::from_u128(7)), binding: None };
    CallBilling { tenant, about, tab: Arc::new(tab.clone()), ..scene.account() }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_llm::MIGRATIONS];

    async fn every_attempt_of_a_tenant_and_of_no_other(test: TestDb) {
        let (mine, theirs) = (IdGenerator::system().next::<TenantId>(), IdGenerator::system().next::<TenantId>());
        let tab = StoredCallLog::new(test.db.clone());
        let scene = Scene::new([ScriptedTurn::fault(down()), ScriptedTurn::text("fine"), ScriptedTurn::text("theirs")]);
        for tenant in [mine, theirs] {
            let mut call = scene.call();
            call.account = account(&scene, tenant, &tab);
            scene.gateway.complete(call).await.unwrap();
        }
        tab.flush().await;

        let first = PageRequest::new(None, 10);
        let page = test.db.read(mine, move |tx| calls::list_newest(tx, &first)).await.unwrap();
        let seen: Vec<_> = page.items.iter().map(|call| (call.attempt, call.outcome.as_str(), call.cost)).collect();
        assert_eq!(seen, [
            (2, "end_turn", Some(Cost::from_micros(60))),
            (1, "provider_failed", Some(Cost::ZERO)),
        ]);
        assert_eq!(page.items[1].detail.as_deref(), Some("provider error (503): busy"));
        assert!(page.items[0].first_token_micros.is_some() && page.items[1].first_token_micros.is_none());
        let used = test.db.read(theirs, |tx| calls::sum_spend_since(tx, Timestamp::EPOCH)).await.unwrap();
        assert_eq!(used, CallSpend { tokens: 15, output: 5, cost: Some(Cost::from_micros(60)) });
    }

    async fn a_caller_writes_records_in_its_own_transaction(test: TestDb) {
        let tenant = IdGenerator::system().next::<TenantId>();
        let scene = Scene::new([ScriptedTurn::text("fine"), ScriptedTurn::text("fine")]);
        let mut call = scene.call();
        call.account.tenant = tenant;
        scene.gateway.complete(call.clone()).await.unwrap();
        let lost = scene.records();
        let undone: Result<(), munshi_store::Error> = test.db.write(tenant, move |tx| {
            calls::record(tx, &lost[0])?;
            Err(munshi_store::Error::Refused("changed my mind".to_owned()))
        }).await;
        undone.unwrap_err();
        scene.gateway.complete(call).await.unwrap();
        let kept = scene.records();
        let id = kept[0].id;
        test.db.write(tenant, move |tx| calls::record(tx, &kept[0])).await.unwrap();
        let first = PageRequest::new(None, 10);
        let page = test.db.read(tenant, move |tx| calls::list_newest(tx, &first)).await.unwrap();
        assert_eq!(page.items.iter().map(|call| call.id).collect::<Vec<_>>(), [id]);
    }

    async fn an_unknown_price_makes_the_sum_unknown(test: TestDb) {
        let tenant = IdGenerator::system().next::<TenantId>();
        let scene = Scene::new([ScriptedTurn::text("fine")]);
        scene.complete().await.unwrap();
        let mut record = scene.records().remove(0);
        (record.tenant, record.cost) = (tenant, None);
        test.db.write(tenant, move |tx| calls::record(tx, &record)).await.unwrap();
        let used = test.db.read(tenant, |tx| calls::sum_spend_since(tx, Timestamp::EPOCH)).await.unwrap();
        assert_eq!(used, CallSpend { tokens: 15, output: 5, cost: None });
    }

    async fn another_process_can_see_which_targets_are_resting(test: TestDb) {
        let tab = StoredCallLog::new(test.db.clone());
        let scene = Scene::new((0..4).map(|_| ScriptedTurn::fault(down())));
        let tenant = IdGenerator::system().next::<TenantId>();
        for _ in 0..2 {
            let mut call = scene.call();
            call.account = account(&scene, tenant, &tab);
            call.route = crate::gateway::scene::route(&["first"]).into();
            scene.gateway.complete(call).await.unwrap_err();
        }
        tab.flush().await;
        let seen = test.db.platform(MODELS).read(|tx| calls::load_health_since(tx, Timestamp::EPOCH)).await.unwrap();
        let soon = Timestamp::from_micros(1_700_000_000_000_000).plus(Duration::from_secs(60));
        assert!(seen["first"].breaker.blocked_until(soon).is_some(), "{seen:?}");
    }
}
