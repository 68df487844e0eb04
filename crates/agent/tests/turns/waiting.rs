//! More messages than a node has places for.

use std::time::Duration;

use munshi_agent::{MessageReceipt, RunCancelOutcome, TurnSettings};
use munshi_conversations::run_load::{self, LaneLoad};
use munshi_conversations::runs::{self, RunLane};
use munshi_conversations::{IngestStatus, RUNS, RunState};
use munshi_identity::Role;
use munshi_test_app::{TenantFiles, build_message, notes, parse_target};
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{PATIENCE, TestDb};
use munshi_types::TenantStatus;
use tokio_util::sync::CancellationToken;

use crate::turns::limits::set_status;
use crate::turns::support::{Plan, Shop};

const WAITS: IngestStatus = IngestStatus::Queued { behind: None };

/// So many places, and a model that answers nobody before the gate is open.
async fn open(test: &TestDb, places: usize, messages: usize) -> (Shop, ScriptGate) {
    let gate = ScriptGate::default();
    let script = (0..messages).map(|_| ScriptedTurn::text("Yes.").with_gate(&gate)).collect::<Vec<_>>();
    (Shop::open_with(test, script, plan(places)).await, gate)
}

fn plan(places: usize) -> Plan {
    Plan { settings: TurnSettings { chat_places: places, ..TurnSettings::default() }, ..Plan::default() }
}

/// A message of somebody new.
async fn say(test: &TestDb, shop: &Shop, name: &str) -> MessageReceipt {
    test.clock.advance(Duration::from_millis(1));
    let person = shop.add_person(shop.tenant, name, Some(Role::Staff)).await;
    shop.engine.receive(shop.message(person, name, "hello")).await.unwrap()
}

/// Serves until all of these are answered.
async fn answer(shop: &Shop, received: &[MessageReceipt]) {
    let stop = CancellationToken::new();
    let answered = async {
        for one in received {
            let outcome = shop.outcome(one).await;
            assert_eq!((outcome.state, outcome.text.as_str()), (RunState::Done, "Yes."));
        }
        stop.cancel();
    };
    tokio::join!(answered, shop.engine.serve(stop.clone()));
}

async fn waiting(shop: &Shop) -> Vec<munshi_types::RunId> {
    let list = shop.db.platform(RUNS).read(|tx| runs::list_waiting(tx, 100)).await.unwrap();
    list.into_iter().map(|(_, run)| run).collect()
}

async fn load(shop: &Shop) -> LaneLoad {
    let now = shop.clock.now();
    let lanes = shop.db.read(shop.tenant, move |tx| run_load::read_tenant(tx, now)).await.unwrap();
    lanes.into_iter().find(|load| load.lane == RunLane::Chat).unwrap()
}

/// How often the model was asked, once it was asked at all and some time has passed.
async fn asked_within_a_moment(shop: &Shop) -> usize {
    while shop.model.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(400)).await;
    shop.model.requests().len()
}

on_both! {
    async fn who_finds_no_place_waits_and_is_answered(test: TestDb) {
        let (shop, gate) = open(&test, 2, 6).await;
        let mut received = Vec::new();
        for name in ["one", "two", "three", "four", "five", "six"] {
            received.push(say(&test, &shop, name).await);
        }
        let begun: Vec<bool> = received.iter().map(|one| one.status == IngestStatus::Begun).collect();
        assert_eq!(begun, [true, true, false, false, false, false]);
        assert!(received[2..].iter().all(|one| one.status == WAITS));
        let waits: Vec<_> = received[2..].iter().map(|one| one.run).collect();
        assert_eq!(waiting(&shop).await, waits, "whoever came first comes first");
        let LaneLoad { waiting, running, oldest, .. } = load(&shop).await;
        assert_eq!((waiting, running, oldest.is_some()), (4, 2, true));
        assert_eq!(asked_within_a_moment(&shop).await, 2, "no more at once than there are places");
        gate.open();
        answer(&shop, &received).await;
        let LaneLoad { waiting, running, expected_wait, .. } = load(&shop).await;
        assert_eq!((waiting, running, expected_wait), (0, 0, Some(Duration::ZERO)));
    }

    async fn a_conversation_that_has_a_place_does_not_keep_it_from_others(test: TestDb) {
        let (shop, gate) = open(&test, 1, 4).await;
        let first = shop.say("1", "a").await;
        let other = say(&test, &shop, "other").await;
        test.clock.advance(Duration::from_millis(1));
        let (second, third) = (shop.say("2", "b").await, shop.say("3", "c").await);
        assert_eq!((other.status, second.status), (WAITS, IngestStatus::Queued { behind: Some(first.run) }));
        gate.open();
        answer(&shop, &[first, second, third, other]).await;
        let asked: Vec<String> =
            shop.model.requests().iter().map(|call| call.request.messages.last().unwrap().text()).collect();
        assert_eq!(asked, ["a", "hello", "b", "c"]);
    }

    async fn a_tenant_with_many_messages_delays_another_by_one(test: TestDb) {
        let (shop, gate) = open(&test, 1, 9).await;
        let files = TenantFiles::shop("bakery").with_policy(notes::OPEN_POLICY);
        let bakery = shop.apply_tenant(&files).await;
        let baker = shop.add_person(bakery, "Baker", Some(Role::Owner)).await;
        let mut received = Vec::new();
        for name in ["one", "two", "three", "four", "five", "six"] {
            received.push(say(&test, &shop, name).await);
        }
        let message = build_message(parse_target("handle:bakery"), baker, "b", "hello");
        let late = shop.engine.receive(message).await.unwrap();
        assert_eq!(waiting(&shop).await.first(), Some(&late.run), "the one tenant has a turn under way, the other none");
        gate.open();
        received.push(late);
        answer(&shop, &received).await;
    }

    async fn another_node_takes_up_what_waits(test: TestDb) {
        let (shop, gate) = open(&test, 1, 2).await;
        let (first, second) = (say(&test, &shop, "one").await, say(&test, &shop, "two").await);
        assert_eq!(second.status, WAITS);
        if test.db.engine() == "sqlite" {
            gate.open();
            return answer(&shop, &[first, second]).await;
        }
        let other = shop.beside(&test, [ScriptedTurn::text("Yes.")], plan(1)).await;
        answer(&other, std::slice::from_ref(&second)).await;
        assert_eq!(shop.model.requests().len(), 1, "the first node was still at its first");
        gate.open();
        assert_eq!(shop.outcome(&first).await.text, "Yes.");
    }

    async fn what_waits_for_a_place_can_be_stopped(test: TestDb) {
        let (shop, gate) = open(&test, 1, 1).await;
        let (first, second) = (say(&test, &shop, "one").await, say(&test, &shop, "two").await);
        assert_eq!(shop.engine.cancel(shop.tenant, second.run).await.unwrap(), RunCancelOutcome::Asked);
        assert_eq!(shop.outcome(&second).await.state, RunState::Halted);
        gate.open();
        answer(&shop, &[first]).await;
    }

    async fn what_waited_when_the_process_died_is_answered_by_the_next(test: TestDb) {
        let (shop, _gate) = open(&test, 2, 5).await;
        let mut received = Vec::new();
        for name in ["one", "two", "three", "four", "five"] {
            received.push(say(&test, &shop, name).await);
        }
        shop.engine.abandon();
        // On SQLite there is nobody else who could still hold them; elsewhere their leases pass.
        let later = if test.db.engine() == "postgres" { runs::LEASE } else { Duration::from_secs(1) };
        test.clock.advance(later);
        let gate = ScriptGate::default();
        let script: Vec<_> = (0..5).map(|_| ScriptedTurn::text("Yes.").with_gate(&gate)).collect();
        let next = shop.beside(&test, script, plan(2)).await;
        let opened = async {
            assert_eq!(asked_within_a_moment(&next).await, 2, "no more at once than there are places");
            gate.open();
        };
        let answered = async { tokio::join!(answer(&next, &received), opened) };
        tokio::time::timeout(PATIENCE * 2, answered).await.expect("all are answered");
    }

    async fn a_tenant_at_rest_keeps_no_place_from_others(test: TestDb) {
        let (shop, gate) = open(&test, 1, 2).await;
        let first = say(&test, &shop, "one").await;
        let second = say(&test, &shop, "two").await;
        set_status(&shop, TenantStatus::Paused).await;
        assert_eq!(waiting(&shop).await, [], "whoever is at rest is not begun on");
        set_status(&shop, TenantStatus::Active).await;
        gate.open();
        answer(&shop, &[first, second]).await;
    }
}
