//! What lies between a message and its turn, or between two turns: other messages, other nodes, threads that merge,
//! whoever hangs up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use munshi_conversations::{Error, RunEvent, RunState, linking};
use munshi_identity::{Person, Role, persons};
use munshi_llm::{ChatEvent as Said, ModelError};
use munshi_pack::{FromPack, Objection, PackCheck, PackRegistry, PackTurnContext};
use munshi_safety::approvals::ApprovalDecision;
use munshi_safety::budget::{
    BudgetLane, BudgetLimitSubject, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope, set_limit,
};
use munshi_store::{Tx, params};
use munshi_test_support::database::MORNING;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, administer};
use munshi_types::Clock;
use serde_json::{Value, json};

use crate::turns::approvals::answer;
use crate::turns::support::{Plan, Shop, arguments, events, text_of};

fn hanging() -> ScriptedTurn {
    ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging()
}

/// Can't look after what was done, the first time.
struct Unwell(AtomicU32);

impl PackCheck for Unwell {
    fn check_after_act(
        &self,
        _: &mut Tx<'_>,
        _: &PackTurnContext,
        _: &str,
        _: &Value,
    ) -> munshi_store::Result<Option<Objection>> {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => Err(munshi_store::Error::Refused("it can't be looked at".to_owned())),
            _ => Ok(None),
        }
    }
}

/// The database is away, once.
struct Away(AtomicU32);

impl PackCheck for Away {
    fn check_after_act(
        &self,
        _: &mut Tx<'_>,
        _: &PackTurnContext,
        _: &str,
        _: &Value,
    ) -> munshi_store::Result<Option<Objection>> {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => Err(munshi_store::Error::Busy("for a moment".to_owned())),
            _ => Ok(None),
        }
    }
}

on_both! {
    async fn much_may_be_said_between_a_question_and_its_answer(test: TestDb) {
        let talk = (0..30).map(|number| ScriptedTurn::text(&format!("Answer {number}.")));
        let script = [ScriptedTurn::call("wipe", &arguments("all"))].into_iter().chain(talk).chain([ScriptedTurn::text("It is wiped.")]);
        let shop = Shop::open(&test, script).await;
        let asked = shop.say("1", "wipe all of it").await;
        let id = shop.outcome(&asked).await.approval.unwrap();
        for number in 0..30 {
            assert_eq!(shop.ask(&format!("t{number}"), "and something else").await.state, RunState::Done);
        }
        answer(&test, &shop, shop.owner, id, ApprovalDecision::Yes).await;
        shop.engine.resume(asked.tenant, asked.run).await.unwrap();
        let done = shop.outcome(&asked).await;
        assert_eq!((done.text.as_str(), shop.world.effects().len()), ("It is wiped.", 1), "{done:?}");
    }

    async fn many_messages_at_once_are_all_answered(test: TestDb) {
        let gate = ScriptGate::default();
        let script = (0..61).map(|number| {
            let turn = ScriptedTurn::text(&format!("Answer {number}."));
            if number == 0 { turn.with_gate(&gate) } else { turn }
        });
        let shop = Shop::open(&test, script).await;
        for scope in [BudgetScope::Person, BudgetScope::Binding, BudgetScope::Tenant] {
            let on = BudgetLimitSubject { lane: BudgetLane::People, scope, id: None, period: BudgetPeriod::Day, measure: BudgetMeasure::Money };
            let set = move |tx: &mut Tx<'_>| administer(tx, |tx| set_limit(tx, on, BudgetLimitValue::AtMost(1_000_000_000), MORNING));
            shop.db.write(shop.tenant, set).await.unwrap();
        }
        let mut all = Vec::new();
        for number in 0..61 {
            all.push(shop.say(&format!("m{number}"), &format!("question number {number}")).await);
        }
        gate.open();
        for (number, received) in all.iter().enumerate() {
            let outcome = shop.outcome(received).await;
            assert_eq!((outcome.text.as_str(), outcome.state), (format!("Answer {number}.").as_str(), RunState::Done), "{outcome:?}");
        }
        let last = shop.model.requests().pop().unwrap().request;
        let said: Vec<String> = last.messages.iter().map(munshi_llm::ChatMessage::text).collect();
        assert!(said.contains(&"Answer 59.".to_owned()), "answers given meanwhile are told: {said:?}");
    }

    async fn a_question_about_one_call_loses_no_other(test: TestDb) {
        for calls in [
            [("balance", arguments("Ramesh")), ("note", arguments("milk"))],
            [("note", arguments("milk")), ("balance", arguments("Ramesh"))],
        ] {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            let shop = Shop::open(&test, [ScriptedTurn::calls(calls), ScriptedTurn::text("He owes 450.")]).await;
            let asked = shop.ask("1", "balance of Ramesh, and note milk").await;
            assert_eq!(shop.notes().await, 1, "{asked:?}");
            assert!(asked.text.starts_with("It is done.") && asked.text.contains("milk"), "{}", asked.text);
            assert!(asked.text.contains("1. Ramesh Kumar"), "{}", asked.text);
            assert_eq!(shop.ask("2", "1").await.text, "He owes 450.");
        }
    }

    async fn what_else_was_looked_up_is_told_by_a_model(test: TestDb) {
        let calls = [("balance", arguments("Ramesh")), ("count", json!({}))];
        let shop = Shop::open(&test, [ScriptedTurn::calls(calls), ScriptedTurn::text("There are none. Which Ramesh?")]).await;
        assert_eq!(shop.ask("1", "balance of Ramesh, and count").await.text, "There are none. Which Ramesh?");
    }

    async fn who_wrote_before_the_choices_were_shown_has_picked_none(test: TestDb) {
        let gate = ScriptGate::default();
        let held = ScriptedTurn::call("balance", &arguments("Ramesh")).with_gate(&gate);
        let shop = Shop::open(&test, [held, ScriptedTurn::text("Two kilos, I see."), ScriptedTurn::text("He owes 450.")]).await;
        let first = shop.say("1", "balance of Ramesh").await;
        let second = shop.say("2", "2").await;
        gate.open();
        assert!(shop.outcome(&first).await.text.contains("2. Ramesh Gupta"));
        assert_eq!(shop.outcome(&second).await.text, "Two kilos, I see.");
        let picked = shop.ask("3", "1").await;
        assert_eq!(picked.text, "He owes 450.");
        assert_eq!(picked.calls[0].arguments, arguments("Ramesh Kumar"), "the question was not used up");
    }

    async fn what_was_done_is_said_where_no_model_can_tell_it(test: TestDb) {
        let faults = (0..12).map(|_| ScriptedTurn::fault(ModelError::Unauthorised));
        let script = [ScriptedTurn::call("note", &arguments("milk"))].into_iter().chain(faults);
        let shop = Shop::open(&test, script).await;
        let outcome = shop.ask("1", "note milk").await;
        assert_eq!((outcome.state, shop.notes().await), (RunState::Halted, 1));
        assert!(outcome.text.contains("What was done before") && outcome.text.contains("milk"), "{}", outcome.text);
        assert!(!outcome.text.contains("try again") && !outcome.degraded, "{outcome:?}");
        shop.ask("2", "hello there").await;
        let next = shop.model.requests().pop().unwrap().request;
        let said: Vec<String> = next.messages.iter().map(munshi_llm::ChatMessage::text).collect();
        assert!(said.iter().any(|said| said.contains("What was done before")), "the next turn knows of it: {said:?}");
    }

    async fn an_excuse_stands_between_two_requests(test: TestDb) {
        let faults = (0..3).map(|_| ScriptedTurn::fault(ModelError::Unauthorised));
        let shop = Shop::open(&test, faults.chain([ScriptedTurn::text("Good morning.")])).await;
        while shop.ask(&format!("m{}", shop.model.requests().len()), "good morning").await.text != "Good morning." {}
        let last = shop.model.requests().pop().unwrap().request;
        let roles: Vec<_> = last.messages.iter().map(|said| said.role).collect();
        assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    }

    async fn words_that_are_taken_back_are_followed_by_a_reset(test: TestDb) {
        let house = PackRegistry { checks: vec![FromPack { pack: "shop", what: Arc::new(Unwell(AtomicU32::new(0))) }], ..PackRegistry::default() };
        let gate = ScriptGate::default();
        let words = ScriptedTurn::text("It is noted, and all is well with it.").with_pause(Duration::from_millis(20)).with_gate(&gate);
        let script = [ScriptedTurn::call("note", &arguments("milk")), words];
        let shop = Shop::open_with(&test, script, Plan { house, ..Plan::default() }).await;
        let received = shop.say("1", "note milk").await;
        let following = shop.engine.follow(received.tenant, received.run, None).await.unwrap();
        gate.open();
        let live = events(following).await;
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.state, RunState::Halted, "{outcome:?}");
        assert_eq!((text_of(&live).as_str(), live.last().unwrap().1.name()), (outcome.text.as_str(), "done"));
        assert!(live.iter().any(|(_, event)| matches!(event, RunEvent::Reset { .. })), "{live:?}");
        let seen = live.iter().rev().find(|(_, event)| matches!(event, RunEvent::Token { .. })).unwrap().0;
        assert_eq!(shop.again(&test, []).await.events(&received, Some(seen)).await.last().unwrap().1.name(), "done");
    }

    async fn a_moment_without_the_database_is_no_end(test: TestDb) {
        let house = PackRegistry { checks: vec![FromPack { pack: "shop", what: Arc::new(Away(AtomicU32::new(0))) }], ..PackRegistry::default() };
        let script = [ScriptedTurn::call("note", &arguments("milk")), ScriptedTurn::text("Noted."), ScriptedTurn::text("It is noted.")];
        let shop = Shop::open_with(&test, script, Plan { house, ..Plan::default() }).await;
        let outcome = shop.ask("1", "note milk").await;
        assert_eq!((outcome.text.as_str(), outcome.state, shop.notes().await), ("It is noted.", RunState::Done, 1));
    }

    async fn another_node_tells_how_it_went_on(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all"))]).await;
        let asked = shop.say("1", "wipe all of it").await;
        let id = shop.outcome(&asked).await.approval.unwrap();
        answer(&test, &shop, shop.owner, id, ApprovalDecision::Yes).await;
        let other = shop.again(&test, [ScriptedTurn::text("It is wiped.")]).await;
        other.engine.resume(asked.tenant, asked.run).await.unwrap();
        assert_eq!(other.outcome(&asked).await.text, "It is wiped.");
        assert_eq!(text_of(&shop.events(&asked, None).await), "It is wiped.", "not as it was when it waited");
    }

    async fn a_reply_that_is_archived_ends_its_stream(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Hello.")]).await;
        let received = shop.say("1", "hello there").await;
        shop.outcome(&received).await;
        let archive = |tx: &mut Tx<'_>| tx.execute("DELETE FROM messages WHERE tenant_id = $1", params![]);
        shop.db.write(shop.tenant, archive).await.unwrap();
        let events = shop.again(&test, []).await.events(&received, None).await;
        assert!(matches!(&events[..], [(_, RunEvent::Error { code, .. })] if code == "archived"), "{events:?}");
    }

    async fn whoever_hangs_up_is_answered_all_the_same(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Hello.")]).await;
        let mut receiving = Box::pin(shop.engine.receive(shop.message(shop.staff, "1", "hello there")));
        // Begun, and given up at once.
        assert!(futures_util::poll!(&mut receiving).is_pending());
        drop(receiving);
        let received = loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let again = shop.say("1", "hello there").await;
            if again.status == munshi_conversations::IngestStatus::SeenBefore {
                break again;
            }
        };
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.text, "Hello.");
        assert_eq!(shop.number("SELECT epoch FROM runs WHERE tenant_id = $1").await, 1);
    }

    async fn nobody_follows_anothers_run(test: TestDb) {
        let shop = Shop::open(&test, [hanging()]).await;
        let received = shop.say("1", "hello there").await;
        while shop.model.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let stranger = test.add_tenant("stranger").await;
        let followed = shop.engine.follow(stranger, received.run, None).await;
        assert!(matches!(followed.err(), Some(Error::NoRun)));
        assert!(shop.engine.follow(received.tenant, received.run, None).await.is_ok());
    }

    async fn a_question_goes_with_its_thread(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::text("Hello."), ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("Gone.")]).await;
        let (ids, now) = (test.ids.clone(), test.clock.now());
        let meet = move |tx: &mut Tx<'_>| -> Result<_, munshi_store::Error> {
            let person = Person { role: Some(Role::Staff), ..Person::new(&ids, "Asha again", MORNING) };
            persons::upsert(tx, &person)?;
            Ok(person.id)
        };
        let other = shop.db.write(shop.tenant, meet).await.unwrap();
        let hello = shop.engine.receive(shop.message(other, "o1", "hello there")).await.unwrap();
        shop.outcome(&hello).await;
        // What is said at one moment has no order once it is one thread.
        test.clock.advance(Duration::from_secs(1));
        assert_eq!(shop.ask("1", "remove old").await.state, RunState::WaitingApproval);
        let staff = shop.staff;
        let ids = test.ids.clone();
        let merge = move |tx: &mut Tx<'_>| linking::merge_threads(tx, &ids, (staff, other), now);
        shop.db.write(shop.tenant, merge).await.unwrap();
        test.clock.advance(Duration::from_secs(1));
        let yes = shop.engine.receive(shop.message(other, "o2", "yes")).await.unwrap();
        let done = shop.outcome(&yes).await;
        assert_eq!((done.text.as_str(), shop.notes().await), ("Gone.", 1), "{done:?}");
    }
}
