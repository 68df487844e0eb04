//! A run that may have broken its process is marked for as long as it has the process to itself, and no longer.

use std::time::Duration;

use munshi_agent::{IsolationTimes, MessageReceipt, TurnSettings};
use munshi_conversations::RunRecoveryScope;
use munshi_llm::ChatEvent as Said;
use munshi_store::Tx;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, wait_until};

use crate::turns::support::{Plan, Shop};

/// More than may die of a run before it is set aside.
const DEATHS: usize = 5;

fn hanging() -> ScriptedTurn {
    ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging()
}

fn hurried() -> Plan {
    let isolation = IsolationTimes {
        wait: Duration::from_millis(5),
        pause: Duration::from_millis(5),
        hold: Duration::from_millis(50),
    };
    Plan { settings: TurnSettings { isolation, ..TurnSettings::default() }, ..Plan::default() }
}

/// A run that three processes have taken up without coming further: the next one takes it for what broke them.
async fn suspect(test: &TestDb) -> (Shop, MessageReceipt) {
    let shop = Shop::open_with(test, [hanging()], hurried()).await;
    let received = shop.say("1", "hello there").await;
    wait_until(async || shop.model.requests().len() == 1).await;
    shop.engine.abandon();
    for _ in 0..2 {
        let next = next(test, &shop, [hanging()]).await;
        wait_until(async || next.model.requests().len() == 1).await;
        next.engine.abandon();
    }
    (shop, received)
}

/// Another process that takes the run up.
async fn next(test: &TestDb, shop: &Shop, script: impl IntoIterator<Item = ScriptedTurn>) -> Shop {
    test.clock.advance(Duration::from_secs(31));
    let next = shop.again(test, script).await;
    assert_eq!(next.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap(), 1);
    next
}

async fn is_marked(shop: &Shop, received: &MessageReceipt) -> bool {
    let run = received.run;
    let find = move |tx: &mut Tx<'_>| munshi_conversations::runs::find(tx, run);
    !shop.db.read(shop.tenant, find).await.unwrap().unwrap().snapshot.alone.is_empty()
}

on_both! {
    async fn a_death_after_others_went_on_beside_it_is_nobodys(test: TestDb) {
        let (shop, received) = suspect(&test).await;
        for death in 0..DEATHS {
            let dying = next(&test, &shop, [hanging(), ScriptedTurn::text("Good morning.")]).await;
            wait_until(async || dying.model.requests().len() == 1).await;
            // Whoever comes meanwhile waits until the run is one of many again.
            let others = dying.engine.receive(dying.message(dying.owner, &format!("o{death}"), "hello")).await.unwrap();
            assert_eq!(dying.outcome(&others).await.text, "Good morning.");
            dying.engine.abandon();
        }
        let last = next(&test, &shop, [ScriptedTurn::text("Here I am.")]).await;
        let outcome = last.outcome(&received).await;
        assert_eq!((outcome.text.as_str(), outcome.halt.as_ref()), ("Here I am.", None), "{outcome:?}");
    }

    async fn a_marker_that_was_set_beside_others_is_taken_back(test: TestDb) {
        let (shop, received) = suspect(&test).await;
        for death in 0..DEATHS {
            test.clock.advance(Duration::from_secs(31));
            let dying = shop.again(&test, [hanging(), hanging()]).await;
            // A turn that never ends: the run can't have the process to itself.
            dying.engine.receive(dying.message(dying.owner, &format!("o{death}"), "hello")).await.unwrap();
            wait_until(async || dying.model.requests().len() == 1).await;
            assert_eq!(dying.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap(), 1);
            wait_until(async || dying.model.requests().len() == 2).await;
            wait_until(async || !is_marked(&dying, &received).await).await;
            dying.engine.abandon();
            end_all_but(&dying, &received).await;
        }
        let last = next(&test, &shop, [ScriptedTurn::text("Here I am.")]).await;
        let outcome = last.outcome(&received).await;
        assert_eq!((outcome.text.as_str(), outcome.halt.as_ref()), ("Here I am.", None), "{outcome:?}");
    }
}

/// What was in the run's way is nobody's to take up.
async fn end_all_but(shop: &Shop, received: &MessageReceipt) {
    let run = received.run;
    let sql = "UPDATE runs SET state = 'done', ended_at = began_at, lease_until = NULL WHERE tenant_id = $1 AND id <> $2";
    let end = move |tx: &mut Tx<'_>| tx.execute(sql, munshi_store::params![run]);
    shop.db.write(shop.tenant, end).await.unwrap();
}
