//! A process that dies anywhere is followed by one that goes on: nothing is done twice, and the person gets an answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::MessageReceipt;
use munshi_conversations::{EventId, RunRecoveryScope, RunState};
use munshi_llm::{
    ChatEvent as Said, ChatRequest, ChatStream, Embedding, ModelError, ModelMessagePart, ModelTarget,
    Provider,
};
use munshi_test_support::models::{
    ScriptGate, ScriptedModel, ScriptedTurn, build_call_events, build_text_events,
};
use munshi_test_support::{TestDb, wait_until};
use munshi_tools::NoActJournal;
use munshi_types::PersonId;

use crate::turns::support::{Plan, Shop, World, arguments, text_of};

/// Lets a second process take up what the first left: leases of runs and acts are over by then.
pub(crate) async fn taken_up(
    test: &TestDb,
    shop: &Shop,
    received: &MessageReceipt,
) -> munshi_agent::RunOutcome {
    test.clock.advance(Duration::from_secs(120));
    shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
    shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
    shop.outcome(received).await
}

fn hanging() -> ScriptedTurn {
    ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging()
}

/// A model that goes by what it is shown: it calls the tools one after another and then says that they are done.
struct Steps {
    tools: Vec<&'static str>,
}

#[async_trait]
impl Provider for Steps {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let done = parts.filter(|part| matches!(part, ModelMessagePart::ToolResult(_))).count();
        let events = match self.tools.get(done) {
            Some(tool) => build_call_events(tool, &arguments("milk")),
            None => build_text_events("All of it is done. Thank you."),
        };
        ScriptedModel::new([ScriptedTurn::events(events)]).stream(target, request).await
    }

    async fn embed(&self, _: &ModelTarget, _: &[String]) -> Result<Embedding, ModelError> {
        Err(ModelError::Unauthorised)
    }
}

fn process(test: &TestDb, shop: &Shop, db: munshi_store::Db) -> Shop {
    let provider = Arc::new(Steps { tools: vec!["note", "book", "order"] });
    shop.thinking_with(test, db, provider, Plan::default())
}

on_both! {
    async fn a_turn_that_had_only_begun_is_done_anew(test: TestDb) {
        let shop = Shop::open(&test, [hanging()]).await;
        let received = shop.say("1", "hello there").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("Hello.")]).await;
        assert_eq!(other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap(), 0, "it is the first's while its lease holds");
        let outcome = taken_up(&test, &other, &received).await;
        assert_eq!((outcome.text.as_str(), outcome.state), ("Hello.", RunState::Done));
        // Who followed the first process is told that it begins anew.
        let seen = EventId { generation: 1, number: 1, offset: 0 };
        let events = other.events(&received, Some(seen)).await;
        assert_eq!((events[0].1.name(), text_of(&events).as_str()), ("reset", "Hello."));
        assert_eq!(shop.number("SELECT COUNT(*) FROM messages WHERE tenant_id = $1").await, 2);
    }

    async fn an_effect_under_way_happens_once(test: TestDb) {
        for (tool, ok) in [("book", true), ("order", true), ("fax", false)] {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            let shop = Shop::open(&test, [ScriptedTurn::call(tool, &arguments("milk"))]).await;
            shop.world.hangs.store(true, Ordering::SeqCst);
            let received = shop.say("1", "milk").await;
            wait_until(async || shop.world.effects().len() == 1).await;
            shop.engine.abandon();
            shop.world.hangs.store(false, Ordering::SeqCst);
            let other = shop.again(&test, [ScriptedTurn::text("So it is.")]).await;
            let outcome = taken_up(&test, &other, &received).await;
            assert_eq!((outcome.text.as_str(), outcome.state), ("So it is.", RunState::Done), "{tool}");
            assert_eq!(shop.world.effects().len(), 1, "{tool} happened once");
            assert_eq!(outcome.calls.last().unwrap().ok, ok, "{tool}: {:?}", outcome.calls);
            assert_eq!(other.model.requests().len(), 1, "the call that led to {tool} is not paid again");
        }
    }

    async fn an_effect_that_was_stored_is_not_done_again(test: TestDb) {
        let script = [ScriptedTurn::call("note", &arguments("milk")), ScriptedTurn::call("book", &arguments("milk")), hanging()];
        let shop = Shop::open(&test, script).await;
        let received = shop.say("1", "milk").await;
        wait_until(async || shop.model.requests().len() == 3).await;
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("Noted and booked.")]).await;
        let outcome = taken_up(&test, &other, &received).await;
        assert_eq!(outcome.text, "Noted and booked.");
        assert_eq!((shop.notes().await, shop.world.effects().len()), (1, 1));
        assert_eq!(outcome.calls.len(), 2);
        assert_eq!(outcome.usage.tool_calls, 2);
        assert_eq!(shop.number("SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1").await, 3, "each that was heard, once");
    }

    async fn a_yes_is_not_lost_with_the_process(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all"))]).await;
        let owner = shop.owner;
        let ask = |id: &str, text: &str| shop.engine.receive(shop.message(owner, id, text));
        let first = ask("1", "wipe all of it").await.unwrap();
        assert_eq!(shop.outcome(&first).await.state, RunState::WaitingApproval);
        shop.world.hangs.store(true, Ordering::SeqCst);
        let second = ask("2", "yes").await.unwrap();
        wait_until(async || shop.world.effects().len() == 1).await;
        shop.engine.abandon();
        shop.world.hangs.store(false, Ordering::SeqCst);
        let other = shop.again(&test, [ScriptedTurn::text("It is wiped.")]).await;
        let outcome = taken_up(&test, &other, &second).await;
        assert_eq!((outcome.text.as_str(), outcome.state), ("It is wiped.", RunState::Done));
        assert_eq!(shop.world.effects().len(), 1);
    }

    async fn those_behind_it_are_answered_too(test: TestDb) {
        let shop = Shop::open(&test, [hanging()]).await;
        let first = shop.say("1", "the first thing").await;
        let second = shop.say("2", "the second thing").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("First."), ScriptedTurn::text("Second.")]).await;
        assert_eq!(taken_up(&test, &other, &first).await.text, "First.");
        assert_eq!(other.outcome(&second).await.text, "Second.");
    }

    async fn a_process_that_was_only_slow_says_nothing_more(test: TestDb) {
        let gate = ScriptGate::default();
        let slow = ScriptedTurn::text("Too late.").with_gate(&gate);
        let shop = Shop::open(&test, [slow]).await;
        let received = shop.say("1", "hello there").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        let other = shop.again(&test, [ScriptedTurn::text("In time.")]).await;
        let outcome = taken_up(&test, &other, &received).await;
        assert_eq!(outcome.text, "In time.");
        gate.open();
        shop.engine.finish().await;
        assert_eq!(shop.outcome(&received).await.text, "In time.");
        let replies = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker = 'persona'";
        assert_eq!(shop.number(replies).await, 1);
        let events = shop.events(&received, None).await;
        assert_eq!(text_of(&events), "In time.", "its followers hear of the other");
    }

    async fn cut_off_at_any_moment_it_is_done_once(test: TestDb) {
        let first = Shop::open(&test, []).await;
        let rounds: u64 = 24;
        let mut longest = Duration::from_millis(60);
        for round in 0..rounds {
            let person = stranger(&test, &first).await;
            let world = first.world.clone();
            let (before, notes) = (world.effects().len(), first.notes().await);
            let dying = process(&test, &first, test.db.clone());
            let began = std::time::Instant::now();
            let received = dying.engine.receive(dying.message(person, &format!("m{round}"), "milk")).await.unwrap();
            let pause = longest.mul_f64((round as f64) / ((rounds - 1) as f64));
            tokio::time::sleep(pause).await;
            dying.engine.abandon();
            // What was begun in a transaction runs to its end, as it does in a process that dies behind it.
            tokio::time::sleep(Duration::from_millis(30)).await;
            let next = process(&test, &first, test.open_again().await);
            let outcome = taken_up(&test, &next, &received).await;
            assert_eq!((outcome.state, outcome.text.as_str()), (RunState::Done, "All of it is done. Thank you."), "{round}");
            assert_eq!(world.effects().len() - before, 2, "round {round}: {:?}", outcome.calls);
            assert_eq!(first.notes().await - notes, 1, "round {round}");
            let events = next.events(&received, None).await;
            assert_eq!(text_of(&events), outcome.text);
            if pause.is_zero() {
                longest = began.elapsed().mul_f64(0.6).clamp(Duration::from_millis(60), Duration::from_millis(600));
            }
        }
        let open = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";
        assert_eq!(first.number(open).await, 0);
        let _: &World = &first.world;
    }
}

pub(crate) async fn stranger(test: &TestDb, shop: &Shop) -> PersonId {
    use munshi_identity::{Person, Role, persons};
    let person = Person {
        role: Some(Role::Staff),
        ..Person::new(&test.ids, "Somebody", munshi_test_support::database::MORNING)
    };
    let id = person.id;
    shop.db.write(shop.tenant, move |tx| persons::upsert(tx, &person)).await.unwrap();
    id
}

on_both! {
    async fn the_one_process_of_sqlite_takes_up_at_once_what_was_left(test: TestDb) {
        let shop = Shop::open(&test, [hanging()]).await;
        let received = shop.say("1", "hello there").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        shop.engine.abandon();
        test.clock.advance(Duration::from_millis(1));
        let other = shop.again(&test, [ScriptedTurn::text("Hello.")]).await;
        let stop = tokio_util::sync::CancellationToken::new();
        if test.engine() == munshi_test_support::DatabaseEngine::Postgres {
            test.clock.advance(Duration::from_secs(31));
        }
        let serving = other.engine.serve(stop.clone());
        let (outcome, ()) = tokio::join!(
            async {
                let outcome = other.outcome(&received).await;
                stop.cancel();
                outcome
            },
            serving,
        );
        assert_eq!(outcome.text, "Hello.");
        // A process that has stopped takes messages and leaves them to the next.
        let late = other.say("2", "and now?").await;
        let third = shop.again(&test, [ScriptedTurn::text("Now too.")]).await;
        assert_eq!(taken_up(&test, &third, &late).await.text, "Now too.");
    }

    async fn a_run_whose_binding_is_gone_is_ended(test: TestDb) {
        let shop = Shop::open(&test, [hanging()]).await;
        let received = shop.say("1", "आज कितनी बिक्री हुई?").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        shop.engine.abandon();
        let archive = |tx: &mut munshi_store::Tx<'_>| {
            tx.execute("UPDATE tiers SET status = 'archived' WHERE tenant_id = $1 AND kind = 'binding'", munshi_store::params![])
        };
        shop.db.write(shop.tenant, archive).await.unwrap();
        let other = shop.again(&test, []).await;
        let outcome = taken_up(&test, &other, &received).await;
        assert!(matches!(outcome.halt, Some(munshi_conversations::HaltReason::Broken(_))), "{outcome:?}");
        assert!(outcome.degraded && !outcome.text.is_empty());
        let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
        assert_eq!(shop.number(held).await, 0);
        assert_eq!(text_of(&other.events(&received, None).await), outcome.text);
    }
}
