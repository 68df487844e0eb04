//! Every attempt is a row.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use munshi_llm::calls::{self, CALLS_OF_BEFORE, MODELS, StoredCallLog};
use munshi_llm::gateway::{CallBilling, CallRecord, CallSpend, CallSubject, PromptRecord};
use munshi_llm::pricing::Cost;
use munshi_store::{PageRequest, RowMark, SealedBy, Tx, params};
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::on_both_engines;
use munshi_types::{IdGenerator, TenantId, Timestamp};

use uuid::Uuid;

use crate::gateway::scene::{Scene, down};

fn account(scene: &Scene, tenant: TenantId, tab: &StoredCallLog) -> CallBilling {
    let about = CallSubject { run: Some(Uuid::from_u128(7)), binding: None };
    CallBilling { tenant, about, tab: Arc::new(tab.clone()), ..scene.account() }
}

fn seal_calls_of_before(tx: &mut Tx<'_>) -> munshi_store::Result<()> {
    let (mut details, mut hashes) = (Some(RowMark::START), Some(RowMark::START));
    while let Some(after) = details {
        details = CALLS_OF_BEFORE.seal_next(tx, after, 1, &mut |_, _| Ok(SealedBy::Tenant))?;
    }
    while let Some(after) = hashes {
        hashes = calls::key_hashes_of_before(tx, after, 1)?;
    }
    Ok(())
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

    async fn no_row_shows_what_a_provider_said_or_confirms_a_guessed_prompt(test: TestDb) {
        let tenant = IdGenerator::system().next::<TenantId>();
        let scene = Scene::new([ScriptedTurn::fault(down()), ScriptedTurn::text("fine")]);
        scene.complete().await.unwrap();
        let failed = scene.records().into_iter().find(|record| record.ending.fault().is_some()).unwrap();
        let hashes = ["6b86b273ff34fce1", "6b86b273ff34fce1", "d4735e3a265e16ee"];
        let calls = hashes.map(|hash| {
            let prompt = Arc::new(PromptRecord { sections: None, hash: hash.to_owned(), text: None });
            CallRecord { id: IdGenerator::system().next(), tenant, prompt: Some(prompt), ..failed.clone() }
        });
        let first = calls[0].id;
        test.db.write(tenant, move |tx| calls.iter().try_for_each(|call| calls::record(tx, call))).await.unwrap();
        // As a version wrote it that sealed neither.
        test.db.write(tenant, move |tx: &mut Tx<'_>| {
            let plain = "UPDATE llm_calls SET detail = 'Ramesh is busy', prompt_hash = $3 WHERE tenant_id = $1 AND id = $2";
            tx.execute(plain, params![first, hashes[0]])
        }).await.unwrap();
        for _ in 0..2 {
            test.db.write(tenant, seal_calls_of_before).await.unwrap();
            let stored = |tx: &mut Tx<'_>| {
                let sql = "SELECT detail || prompt_hash FROM llm_calls WHERE tenant_id = $1";
                tx.all(sql, &[], |row| row.get::<String>(0))
            };
            let rows = test.db.read(tenant, stored).await.unwrap();
            let is_readable = |row: &String| row.contains("busy") || hashes.iter().any(|hash| row.contains(hash));
            assert!(rows.len() == 3 && !rows.iter().any(is_readable), "{rows:?}");
            let request = PageRequest::new(None, 10);
            let page = test.db.read(tenant, move |tx| calls::list_newest(tx, &request)).await.unwrap();
            let prompts: BTreeSet<_> = page.items.iter().map(|call| call.prompt_hash.as_ref().unwrap()).collect();
            assert_eq!(prompts.len(), 2, "the same prompt has the same, also from before");
            let details: BTreeSet<_> = page.items.iter().map(|call| call.detail.as_deref().unwrap()).collect();
            assert_eq!(details, BTreeSet::from(["Ramesh is busy", "provider error (503): busy"]));
        }
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
