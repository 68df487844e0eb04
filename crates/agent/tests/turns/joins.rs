//! Messages that come while a turn thinks, and get one reply with it.

use std::time::Duration;

use munshi_agent::{MessageReceipt, TurnSettings};
use munshi_conversations::{HaltReason, KeyUse, RunEvent, RunRecoveryScope, RunState, runs};
use munshi_identity::keys::{KeyCeiling, KeySpeaker};
use munshi_llm::{ChatEvent as Said, ChatMessage};
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, wait_until};
use munshi_types::tier::Channel;
use munshi_types::{IdGenerator, InboundMessage, ReplyAddress};

use crate::turns::crashes::taken_up;
use crate::turns::support::{Plan, Shop, arguments, events, text_of};

const SECOND: Duration = Duration::from_secs(1);

fn plan(join_window: Duration) -> Plan {
    Plan { settings: TurnSettings { join_window, ..TurnSettings::default() }, ..Plan::default() }
}

async fn open(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Shop {
    Shop::open_with(test, script, plan(SECOND)).await
}

fn hanging() -> ScriptedTurn {
    ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging()
}

/// What the model was told last in its nth call.
fn last_words(shop: &Shop, nth: usize) -> String {
    shop.model.requests()[nth].request.messages.last().map(ChatMessage::text).unwrap()
}

async fn asked(shop: &Shop, times: usize) {
    wait_until(async || shop.model.requests().len() == times).await;
}

async fn halt_of(shop: &Shop, received: &MessageReceipt) -> Option<HaltReason> {
    let run = received.run;
    shop.db.read(shop.tenant, move |tx| runs::find(tx, run)).await.unwrap().unwrap().halt
}

/// A shop in which the second message has joined the first one's turn, whose model hangs after that.
async fn joined_and_hanging(test: &TestDb) -> (Shop, MessageReceipt, MessageReceipt) {
    let gate = ScriptGate::default();
    let shop = open(test, [ScriptedTurn::text("Eggs.").with_gate(&gate), hanging()]).await;
    let first = shop.say("1", "how many eggs are there").await;
    let second = shop.say("2", "and how much milk").await;
    gate.open();
    asked(&shop, 2).await;
    assert_eq!(halt_of(&shop, &second).await, Some(HaltReason::Joined(first.run)));
    (shop, first, second)
}

on_both! {
    async fn two_quick_messages_get_one_reply(test: TestDb) {
        let gate = ScriptGate::default();
        let script = [ScriptedTurn::text("Eggs.").with_gate(&gate), ScriptedTurn::text("Both."), ScriptedTurn::text("Next.")];
        let shop = open(&test, script).await;
        let first = shop.say("1", "how many eggs are there").await;
        let second = shop.say("2", "and how much milk").await;
        let following = [
            shop.engine.follow(first.tenant, first.run, None).await.unwrap(),
            shop.engine.follow(second.tenant, second.run, None).await.unwrap(),
        ];
        let [one, two] = following;
        gate.open();
        let (heard, joined) = tokio::join!(events(one), events(two));
        assert_eq!((text_of(&heard).as_str(), heard.last().unwrap().1.name()), ("Both.", "done"));
        let joins = RunEvent::Joined { run: first.run };
        assert_eq!(joined.last().unwrap().1, joins);
        assert_eq!(shop.events(&second, None).await.last().unwrap().1, joins, "later too");
        let (own, theirs) = (shop.outcome(&first).await, shop.outcome(&second).await);
        assert_eq!((own.text.as_str(), own.state), ("Both.", RunState::Done));
        assert_eq!((theirs.run, theirs.message), (first.run, own.message), "one reply");
        assert_eq!(halt_of(&shop, &second).await, Some(HaltReason::Joined(first.run)));
        assert_eq!(last_words(&shop, 1), "how many eggs are there\nand how much milk");
        assert_eq!(shop.number("SELECT COUNT(*) FROM messages WHERE tenant_id = $1").await, 3);

        assert_eq!(shop.ask("3", "thank you for that").await.text, "Next.");
        let told = shop.model.requests()[2].request.messages.iter().map(ChatMessage::text).collect::<Vec<_>>().join("\n");
        let places = ["how many eggs", "how much milk", "Both.", "thank you"].map(|words| told.find(words).unwrap());
        assert!(places.is_sorted(), "both were answered by then: {told}");
    }

    async fn one_reply_is_one_interaction(test: TestDb) {
        let gate = ScriptGate::default();
        let shop = open(&test, [ScriptedTurn::text("Eggs.").with_gate(&gate), ScriptedTurn::text("Both.")]).await;
        let first = shop.say("1", "how many eggs are there").await;
        shop.say("2", "and how much milk").await;
        gate.open();
        assert_eq!(shop.outcome(&first).await.text, "Both.");
        let used = "SELECT COALESCE(MAX(used_interactions), 0) FROM usage_counters WHERE tenant_id = $1 AND slot = 'people 0 2026-11'";
        assert_eq!(shop.number(used).await, 1);
        assert_eq!(shop.number("SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1").await, 0);
        assert_eq!(shop.number("SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1").await, 2, "the answer that was void is in the books");
    }

    async fn a_message_before_the_first_act_joins(test: TestDb) {
        let gate = ScriptGate::default();
        let script = [
            ScriptedTurn::call("note", &arguments("milk")).with_gate(&gate),
            ScriptedTurn::call("note", &arguments("milk and eggs")),
            ScriptedTurn::text("Noted."),
        ];
        let shop = open(&test, script).await;
        let first = shop.say("1", "please note milk").await;
        asked(&shop, 1).await;
        test.clock.advance(SECOND * 3);
        let second = shop.say("2", "and eggs with it").await;
        gate.open();
        let outcome = shop.outcome(&first).await;
        assert_eq!((outcome.text.as_str(), outcome.calls.len(), shop.notes().await), ("Noted.", 1, 1));
        assert_eq!(outcome.calls[0].arguments, arguments("milk and eggs"), "words of both are their own");
        assert_eq!(shop.outcome(&second).await.run, first.run);
    }

    async fn a_message_after_the_first_act_is_answered_by_itself(test: TestDb) {
        let gate = ScriptGate::default();
        let script = [
            ScriptedTurn::call("note", &arguments("milk")),
            ScriptedTurn::text("Noted.").with_gate(&gate),
            ScriptedTurn::text("Eggs, too."),
        ];
        let shop = open(&test, script).await;
        let first = shop.say("1", "please note milk").await;
        asked(&shop, 2).await;
        test.clock.advance(SECOND * 3);
        let second = shop.say("2", "are there eggs").await;
        gate.open();
        assert_eq!(shop.outcome(&first).await.text, "Noted.");
        let outcome = shop.outcome(&second).await;
        assert_eq!((outcome.run, outcome.text.as_str()), (second.run, "Eggs, too."));
    }

    async fn a_quick_message_joins_after_an_act_which_stays_done(test: TestDb) {
        let gate = ScriptGate::default();
        let script = [
            ScriptedTurn::call("note", &arguments("milk")),
            ScriptedTurn::text("Noted.").with_gate(&gate),
            ScriptedTurn::text("Noted, and there are eggs."),
        ];
        let shop = open(&test, script).await;
        let first = shop.say("1", "please note milk").await;
        asked(&shop, 2).await;
        let second = shop.say("2", "are there eggs").await;
        gate.open();
        let outcome = shop.outcome(&second).await;
        assert_eq!((outcome.run, outcome.text.as_str()), (first.run, "Noted, and there are eggs."));
        assert_eq!((outcome.calls.len(), shop.notes().await), (1, 1));
    }

    async fn what_answers_a_question_joins_nothing(test: TestDb) {
        for text in ["yes", "no", "2", "123 456"] {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            let gate = ScriptGate::default();
            let shop = open(&test, [ScriptedTurn::text("Eggs.").with_gate(&gate), ScriptedTurn::text("Well.")]).await;
            let first = shop.say("1", "how many eggs are there").await;
            let second = shop.say("2", text).await;
            gate.open();
            assert_eq!((shop.outcome(&first).await.text.as_str(), shop.outcome(&second).await.run), ("Eggs.", second.run), "{text}");
        }
    }

    async fn what_comes_through_a_key_joins_nothing(test: TestDb) {
        let key = KeyUse { key: IdGenerator::system().next(), speaks_as: KeySpeaker::Person, ceiling: KeyCeiling::default() };
        for (number, keys) in [(Some(key.clone()), None), (None, Some(key.clone())), (Some(key.clone()), Some(key))].into_iter().enumerate() {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            let gate = ScriptGate::default();
            let shop = open(&test, [ScriptedTurn::text("First.").with_gate(&gate), ScriptedTurn::text("Second.")]).await;
            let mut received = Vec::new();
            for (id, used) in [("1", keys.0), ("2", keys.1)] {
                let message = shop.message(shop.staff, id, "how many eggs are there");
                received.push(match used {
                    Some(used) => shop.engine.receive_with_key(message, used).await.unwrap(),
                    None => shop.engine.receive(message).await.unwrap(),
                });
            }
            gate.open();
            let texts = [shop.outcome(&received[0]).await.text, shop.outcome(&received[1]).await.text];
            assert_eq!(texts, ["First.", "Second."], "{number}");
        }
    }

    async fn ten_messages_join_and_no_more(test: TestDb) {
        let gate = ScriptGate::default();
        let script = ["One.", "Ten.", "Eleven.", "Twelve."].map(ScriptedTurn::text);
        let [one, rest @ ..] = script;
        let shop = open(&test, std::iter::once(one.with_gate(&gate)).chain(rest)).await;
        let mut received = Vec::new();
        for id in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"] {
            received.push(shop.say(id, &format!("about the thing called {id}")).await);
        }
        gate.open();
        for (number, one) in received.iter().enumerate() {
            let text = if number < 10 { "Ten." } else { "Twelve." };
            assert_eq!(shop.outcome(one).await.text, text, "{number}");
        }
        assert_eq!(last_words(&shop, 1).lines().count(), 10);
        assert_eq!(last_words(&shop, 3).lines().count(), 2);
    }

    async fn a_turn_thinks_anew_three_times(test: TestDb) {
        let gates: Vec<ScriptGate> = (0..4).map(|_| ScriptGate::default()).collect();
        let held = gates.iter().map(|gate| ScriptedTurn::text("All four.").with_gate(gate));
        let shop = open(&test, held.chain([ScriptedTurn::text("The fifth.")]).collect::<Vec<_>>()).await;
        let mut received = vec![shop.say("0", "about the thing at first").await];
        for (number, gate) in gates.iter().enumerate() {
            asked(&shop, number + 1).await;
            received.push(shop.say(&format!("n{number}"), "and about another thing").await);
            gate.open();
        }
        for one in &received[..4] {
            assert_eq!(shop.outcome(one).await.run, received[0].run);
        }
        let last = shop.outcome(&received[4]).await;
        assert_eq!((last.run, last.text.as_str()), (received[4].run, "The fifth."));
    }

    async fn a_reply_that_is_sent_waits_for_the_next_message(test: TestDb) {
        let script = [ScriptedTurn::text("Eggs."), ScriptedTurn::text("Both.")];
        let shop = Shop::open_with(&test, script, plan(SECOND * 2)).await;
        let to = ReplyAddress::new(Channel::Web, "9876501234".to_owned());
        let sent = |id: &str, text: &str| InboundMessage { reply_to: Some(to.clone()), ..shop.message(shop.staff, id, text) };
        let first = shop.engine.receive(sent("1", "how many eggs are there")).await.unwrap();
        asked(&shop, 1).await;
        let second = shop.engine.receive(sent("2", "and how much milk")).await.unwrap();
        // By now nobody waits for a third.
        test.clock.advance(SECOND * 3);
        assert_eq!(shop.outcome(&second).await.run, first.run);
        assert_eq!(shop.outcome(&first).await.text, "Both.");
        assert_eq!(shop.number("SELECT COUNT(*) FROM outbox WHERE tenant_id = $1").await, 1);
    }

    async fn a_message_through_another_node_joins_before_the_reply_is_stored(test: TestDb) {
        let gate = ScriptGate::default();
        let shop = open(&test, [ScriptedTurn::text("Eggs.").with_gate(&gate), ScriptedTurn::text("Both.")]).await;
        let first = shop.say("1", "how many eggs are there").await;
        asked(&shop, 1).await;
        let other = shop.again(&test, []).await;
        let second = other.say("2", "and how much milk").await;
        gate.open();
        assert_eq!(shop.outcome(&first).await.text, "Both.");
        assert_eq!(other.outcome(&second).await.run, first.run);
        assert_eq!(other.events(&second, None).await.last().unwrap().1, RunEvent::Joined { run: first.run });
        assert_eq!(shop.number("SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1").await, 2);
    }

    async fn what_does_not_fit_holds_up_no_reply(test: TestDb) {
        let gate = ScriptGate::default();
        let never = ScriptedTurn::text("Well.").with_gate(&ScriptGate::default());
        let shop = open(&test, [ScriptedTurn::text("Eggs.").with_gate(&gate), never]).await;
        let first = shop.say("1", "how many eggs are there").await;
        asked(&shop, 1).await;
        let other = shop.again(&test, []).await;
        other.say("2", "yes").await;
        gate.open();
        assert_eq!(shop.outcome(&first).await.text, "Eggs.");
        assert_eq!(shop.number("SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1").await, 1, "its call is stored once");
    }

    async fn without_a_window_each_message_is_answered_by_itself(test: TestDb) {
        let gate = ScriptGate::default();
        let script = [ScriptedTurn::text("First.").with_gate(&gate), ScriptedTurn::text("Second.")];
        let shop = Shop::open_with(&test, script, plan(Duration::ZERO)).await;
        let received = [shop.say("1", "how many eggs are there").await, shop.say("2", "and how much milk").await];
        gate.open();
        let texts = [shop.outcome(&received[0]).await.text, shop.outcome(&received[1]).await.text];
        assert_eq!(texts, ["First.", "Second."]);
    }

    async fn a_process_that_dies_after_a_join_loses_no_message(test: TestDb) {
        let (shop, first, second) = joined_and_hanging(&test).await;
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("Both.")]).await;
        assert_eq!(taken_up(&test, &other, &first).await.text, "Both.");
        assert_eq!(last_words(&other, 0), "how many eggs are there\nand how much milk");
        assert_eq!(other.outcome(&second).await.run, first.run);
        assert_eq!(other.events(&second, None).await.last().unwrap().1, RunEvent::Joined { run: first.run });
        assert_eq!(shop.number("SELECT COUNT(*) FROM messages WHERE tenant_id = $1").await, 3, "and none is answered twice");
        assert_eq!(shop.number("SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL").await, 0);
    }

    async fn a_process_that_dies_before_a_join_leaves_it_to_the_next(test: TestDb) {
        let shop = open(&test, [hanging()]).await;
        let first = shop.say("1", "how many eggs are there").await;
        let second = shop.say("2", "and how much milk").await;
        asked(&shop, 1).await;
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("Eggs."), ScriptedTurn::text("Both.")]).await;
        assert_eq!(taken_up(&test, &other, &first).await.text, "Both.");
        assert_eq!(other.outcome(&second).await.run, first.run, "nobody here had taken that message");
    }

    async fn who_stops_the_turn_stops_what_joined_it(test: TestDb) {
        let (shop, first, second) = joined_and_hanging(&test).await;
        shop.engine.cancel(first.tenant, first.run).await.unwrap();
        let outcome = shop.outcome(&second).await;
        assert_eq!((outcome.run, outcome.halt), (first.run, Some(HaltReason::Cancelled)));
        assert_eq!(shop.number("SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1").await, 0);
    }

    async fn a_message_that_is_stopped_while_it_waits_joins_nothing(test: TestDb) {
        let gate = ScriptGate::default();
        let shop = open(&test, [ScriptedTurn::text("Eggs.").with_gate(&gate)]).await;
        let first = shop.say("1", "how many eggs are there").await;
        let second = shop.say("2", "and how much milk").await;
        shop.engine.cancel(second.tenant, second.run).await.unwrap();
        assert_eq!(shop.outcome(&second).await.halt, Some(HaltReason::Cancelled));
        gate.open();
        assert_eq!(shop.outcome(&first).await.text, "Eggs.");
        assert_eq!(shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap(), 0);
    }
}
