//! Taking back what was done.

use std::time::Duration;

use munshi_agent::undo::{UndoOutcome, UndoRequest, UndoState};
use munshi_conversations::{RunEvent, RunState, UndoOffer};
use munshi_identity::persons;
use munshi_safety::acts::{self, ActState, UndoRefusal};
use munshi_safety::approvals::ApprovalDecision;
use munshi_store::params;
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::{ActId, PersonId};

use crate::turns::approvals::answer;
use crate::turns::support::{Shop, arguments};

/// A note that was made.
async fn noted(test: &TestDb) -> (Shop, ActId) {
    let script = [ScriptedTurn::call("note", &arguments("milk")), ScriptedTurn::text("Noted.")];
    let shop = Shop::open(test, script).await;
    assert_eq!(shop.ask("1", "note milk please").await.state, RunState::Done);
    let sql = "SELECT id FROM acts WHERE tenant_id = $1 AND tool = 'note'";
    let act = shop.db.read(shop.tenant, move |tx| tx.one(sql, params![], |row| row.get(0))).await.unwrap();
    (shop, act)
}

async fn undo(shop: &Shop, act: ActId, person: PersonId) -> UndoOutcome {
    let who = shop.db.read(shop.tenant, move |tx| {
        Ok::<_, munshi_identity::Error>(persons::find(tx, person)?.unwrap().principal(tx))
    });
    let request = UndoRequest { act, who: who.await.unwrap(), key: None, is_program: false };
    shop.engine.undo_act(request).await.unwrap()
}

async fn find(shop: &Shop, act: ActId) -> acts::Act {
    shop.db.read(shop.tenant, move |tx| acts::find(tx, act)).await.unwrap().unwrap()
}

on_both! {
    async fn what_was_done_is_taken_back_once_and_that_is_an_act(test: TestDb) {
        let (shop, act) = noted(&test).await;
        assert_eq!(shop.notes().await, 1);
        let offered = find(&shop, act).await.undo.unwrap();
        assert_eq!((offered.step.tool.as_str(), offered.undone_by), ("unnote", None));
        let UndoOutcome::Called { undone_by, state, .. } = undo(&shop, act, shop.owner).await else { panic!("refused") };
        assert_eq!((state, shop.notes().await), (UndoState::Done, 0));
        let taken = find(&shop, undone_by).await;
        assert_eq!((taken.state, taken.tool.as_str(), taken.person), (ActState::Applied, "unnote", Some(shop.owner)));
        let UndoOutcome::Refused(UndoRefusal::Begun(by)) = undo(&shop, act, shop.owner).await else { panic!("a second time") };
        assert_eq!(by, undone_by);
    }

    async fn the_stream_offers_it_with_the_result(test: TestDb) {
        let script = [ScriptedTurn::call("note", &arguments("milk")), ScriptedTurn::text("Noted.")];
        let shop = Shop::open(&test, script).await;
        let received = shop.say("1", "note milk please").await;
        shop.outcome(&received).await;
        let events = shop.events(&received, None).await;
        let offers: Vec<UndoOffer> = events.iter().filter_map(|(_, event)| match event {
            RunEvent::ToolResult { undo, .. } => *undo,
            _ => None,
        }).collect();
        let [offer] = offers[..] else { panic!("{events:?}") };
        assert!(offer.until > shop.clock.now());
        assert_eq!(find(&shop, offer.act).await.tool, "note");
    }

    async fn many_who_ask_at_once_take_it_back_once(test: TestDb) {
        let (shop, act) = noted(&test).await;
        let asked = futures_util::future::join_all((0..8).map(|_| undo(&shop, act, shop.owner))).await;
        let by = |outcome: &UndoOutcome| match outcome {
            UndoOutcome::Called { undone_by, state: UndoState::Done, .. } => *undone_by,
            UndoOutcome::Refused(UndoRefusal::Begun(by)) => *by,
            other => panic!("{other:?}"),
        };
        let by: std::collections::BTreeSet<ActId> = asked.iter().map(by).collect();
        assert_eq!((by.len(), shop.notes().await), (1, 0), "all are told of the one act");
        let acts = "SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND tool = 'unnote'";
        assert_eq!(shop.number(acts).await, 1);
    }

    async fn it_is_offered_while_it_holds(test: TestDb) {
        let (shop, act) = noted(&test).await;
        test.clock.advance(Duration::from_secs(24 * 3600 + 1));
        let UndoOutcome::Refused(UndoRefusal::Over(_)) = undo(&shop, act, shop.owner).await else { panic!("too late") };
        assert_eq!(shop.notes().await, 1);
        let nothing: ActId = test.ids.next();
        assert!(matches!(undo(&shop, nothing, shop.owner).await, UndoOutcome::Refused(UndoRefusal::NoAct)));
    }

    /// One that failed can be tried again; one that broke off before it was begun goes on under the same act.
    async fn a_try_that_failed_is_not_the_last(test: TestDb) {
        let (shop, act) = noted(&test).await;
        shop.db.write(shop.tenant, |tx| tx.execute("UPDATE notes SET text = 'tea' WHERE tenant_id = $1", params![])).await.unwrap();
        let UndoOutcome::Called { undone_by: first, state, .. } = undo(&shop, act, shop.owner).await else { panic!("refused") };
        assert_eq!(state, UndoState::Failed);
        shop.db.write(shop.tenant, |tx| tx.execute("UPDATE notes SET text = 'milk' WHERE tenant_id = $1", params![])).await.unwrap();
        let broken: ActId = test.ids.next();
        let crash = "UPDATE acts SET undone_by = $3 WHERE tenant_id = $1 AND id = $2";
        shop.db.write(shop.tenant, move |tx| tx.execute(crash, params![act, broken])).await.unwrap();
        let UndoOutcome::Called { undone_by, state, .. } = undo(&shop, act, shop.owner).await else { panic!("refused") };
        assert_eq!((state, undone_by, shop.notes().await), (UndoState::Done, broken, 0));
        assert_ne!(first, undone_by);
    }

    async fn whoever_may_not_do_it_may_not_take_it_back(test: TestDb) {
        let (shop, act) = noted(&test).await;
        let stranger = shop.add_person(shop.tenant, "Mallory", None).await;
        let UndoOutcome::Called { state, .. } = undo(&shop, act, stranger).await else { panic!("decided by the pipeline") };
        assert_eq!((state, shop.notes().await), (UndoState::Refused, 1));
        let UndoOutcome::Called { state, .. } = undo(&shop, act, shop.owner).await else { panic!("refused") };
        assert_eq!((state, shop.notes().await), (UndoState::Done, 0), "others still may");
    }

    /// One that a person is asked about first happens when they say yes, also where it is asked for again.
    async fn an_undo_that_waits_happens_after_a_yes(test: TestDb) {
        let (shop, act) = noted(&test).await;
        let way = r#"{"tool":"drop","arguments":{"text":"gone"}}"#.to_owned();
        let change = "UPDATE acts SET undo = $3 WHERE tenant_id = $1 AND id = $2";
        let way = munshi_store::JsonText::of(&serde_json::from_str::<serde_json::Value>(&way).unwrap()).unwrap();
        shop.db.write(shop.tenant, move |tx| tx.execute(change, params![act, way])).await.unwrap();
        let UndoOutcome::Called { undone_by, state, .. } = undo(&shop, act, shop.owner).await else { panic!("refused") };
        assert_eq!((state, shop.notes().await), (UndoState::Waiting, 1));
        let UndoOutcome::Called { undone_by: again, state, .. } = undo(&shop, act, shop.owner).await else { panic!("refused") };
        assert_eq!((again, state), (undone_by, UndoState::Waiting), "the same waits");
        let sql = "SELECT id FROM approvals WHERE tenant_id = $1 AND state = 'pending'";
        let id = shop.db.read(shop.tenant, move |tx| tx.one(sql, params![], |row| row.get(0))).await.unwrap();
        answer(&test, &shop, shop.owner, id, ApprovalDecision::Yes).await;
        shop.engine.resume_undo(shop.tenant, undone_by).await.unwrap();
        assert_eq!((find(&shop, undone_by).await.state, shop.notes().await), (ActState::Applied, 2));
        assert!(matches!(undo(&shop, act, shop.owner).await, UndoOutcome::Refused(UndoRefusal::Begun(_))));
    }

    async fn what_a_program_takes_back_is_approved_first(test: TestDb) {
        let (shop, act) = noted(&test).await;
        let owner = shop.owner;
        let who = shop.db.read(shop.tenant, move |tx| {
            Ok::<_, munshi_identity::Error>(persons::find(tx, owner)?.unwrap().principal(tx))
        });
        let request = UndoRequest { act, who: who.await.unwrap(), key: None, is_program: true };
        let UndoOutcome::Called { state, .. } = shop.engine.undo_act(request).await.unwrap() else { panic!("refused") };
        assert_eq!((state, shop.notes().await), (UndoState::Waiting, 1));
    }
}
