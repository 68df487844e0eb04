//! Questions that nobody answers in time: who is told, who is asked next, and that the run goes on.

use std::time::Duration;

use munshi_conversations::messages::{self, Message, MessageSpeaker};
use munshi_conversations::{RunState, sessions};
use munshi_identity::{Person, Role, persons};
use munshi_store::{PageRequest, Tx, params};
use munshi_test_support::database::MORNING;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{DatabaseEngine, TestDb, UnitHold, wait_until};
use munshi_types::tier::Channel;
use munshi_types::{ClientScreen, Clock, InboundMessage, PersonId, ReplyAddress};

use crate::turns::support::{Shop, arguments};

const DAYS: Duration = Duration::from_secs(40 * 24 * 3600);

/// Somebody between the staff and the owner: the question is theirs first.
async fn hire_admin(test: &TestDb, shop: &Shop) -> PersonId {
    let ids = test.ids.clone();
    let unit = move |tx: &mut Tx<'_>| -> Result<PersonId, munshi_store::Error> {
        let admin = Person { role: Some(Role::Admin), ..Person::new(&ids, "Lata", MORNING) };
        persons::upsert(tx, &admin)?;
        Ok(admin.id)
    };
    shop.db.write(shop.tenant, unit).await.unwrap()
}

/// What somebody was told last in their conversation.
async fn last_to(shop: &Shop, person: PersonId) -> Message {
    let read = move |tx: &mut Tx<'_>| -> Result<Message, munshi_store::Error> {
        let newest = PageRequest::new(None, 1);
        let session = sessions::list(tx, sessions::SessionFilter::Person(person), &newest)?.items.remove(0);
        Ok(messages::list(tx, session.id, &newest)?.items.remove(0))
    };
    shop.db.read(shop.tenant, read).await.unwrap()
}

fn from_phone(shop: &Shop, person: PersonId, id: &str, text: &str) -> InboundMessage {
    let reply_to = Some(ReplyAddress::new(Channel::Whatsapp, format!("to-{id}")));
    InboundMessage { reply_to, ..shop.message(person, id, text) }
}

async fn settled(shop: &Shop, received: &munshi_agent::MessageReceipt) -> munshi_agent::RunOutcome {
    wait_until(async || shop.outcome(received).await.state != RunState::WaitingApproval).await;
    shop.outcome(received).await
}

const OUTBOX: &str = "SELECT COUNT(*) FROM outbox WHERE tenant_id = $1";

on_both! {
    async fn whoever_is_above_is_asked_and_answers_in_their_own_chat(test: TestDb) {
        let script = [ScriptedTurn::text("Good morning."), ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("It is wiped.")];
        let shop = Shop::open(&test, script).await;
        hire_admin(&test, &shop).await;
        let hello = shop.engine.receive(from_phone(&shop, shop.owner, "o1", "नमस्ते, आज दुकान कैसी चल रही है")).await.unwrap();
        shop.outcome(&hello).await;
        let asked = shop.engine.receive(from_phone(&shop, shop.staff, "s1", "wipe all of it")).await.unwrap();
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        let sent = shop.number(OUTBOX).await;
        test.clock.advance(DAYS);
        assert_eq!(shop.engine.sweep_acts().await.unwrap().escalated, 1);
        let told = last_to(&shop, shop.staff).await;
        assert!(told.text.starts_with("Nobody has answered this yet") && told.text.contains("all"), "{}", told.text);
        let put = last_to(&shop, shop.owner).await;
        assert_eq!(put.speaker, MessageSpeaker::Persona);
        assert!(put.text.contains("all") && put.text.contains("हाँ या नहीं"), "{}", put.text);
        assert_eq!((put.suggestions.len(), shop.number(OUTBOX).await), (2, sent + 2));
        // Who asked is answered; the owner is told something, which STOP ends and no mail calls an answer.
        assert_eq!(shop.number("SELECT COUNT(*) FROM outbox WHERE tenant_id = $1 AND purpose = 'alert'").await, 1);
        // A second sweep tells nobody again.
        assert_eq!(shop.engine.sweep_acts().await.unwrap().escalated, 0);
        assert_eq!(shop.number(OUTBOX).await, sent + 2);
        shop.db.write(shop.tenant, |tx| tx.execute("UPDATE outbox SET state = 'sent' WHERE tenant_id = $1", &[])).await.unwrap();
        let yes = shop.engine.receive(from_phone(&shop, shop.owner, "o2", "हाँ")).await.unwrap();
        let noted = shop.outcome(&yes).await;
        assert_eq!((noted.text.as_str(), noted.state), ("आपका जवाब लिख लिया है।", RunState::Done));
        let done = settled(&shop, &asked).await;
        assert_eq!((done.text.as_str(), done.state), ("It is wiped.", RunState::Done));
        assert_eq!(shop.world.effects().len(), 1);
    }

    async fn a_yes_to_something_else_is_no_answer(test: TestDb) {
        let script = [
            ScriptedTurn::text("Good morning."), ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("Shall I list them?"),
            ScriptedTurn::text("Here they are."),
        ];
        let shop = Shop::open(&test, script).await;
        hire_admin(&test, &shop).await;
        let hello = shop.engine.receive(shop.message(shop.owner, "o1", "hello there")).await.unwrap();
        shop.outcome(&hello).await;
        let asked = shop.say("s1", "wipe all of it").await;
        shop.outcome(&asked).await;
        test.clock.advance(DAYS);
        shop.engine.sweep_acts().await.unwrap();
        for (id, text, answer) in [("o2", "who owes us money", "Shall I list them?"), ("o3", "yes", "Here they are.")] {
            let received = shop.engine.receive(shop.message(shop.owner, id, text)).await.unwrap();
            assert_eq!(shop.outcome(&received).await.text, answer);
        }
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        assert_eq!(shop.world.effects().len(), 0);
    }

    async fn whoever_asked_is_told_once_that_it_is_not_done(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all"))]).await;
        let asked = shop.engine.receive(from_phone(&shop, shop.staff, "s1", "wipe all of it")).await.unwrap();
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        test.clock.advance(DAYS);
        assert_eq!(shop.engine.sweep_acts().await.unwrap().expired, 1);
        let told = settled(&shop, &asked).await;
        assert!(told.text.starts_with("Nobody answered in time") && told.text.contains("all"), "{}", told.text);
        assert_eq!(shop.number(OUTBOX).await, 2, "the question and one word about its end");
        assert_eq!((shop.world.effects().len(), shop.model.requests().len()), (0, 1), "no model has to say it");
    }

    async fn what_else_was_done_is_told_with_it(test: TestDb) {
        let calls = [("count", serde_json::json!({})), ("wipe", arguments("all"))];
        let shop = Shop::open(&test, [ScriptedTurn::calls(calls), ScriptedTurn::text("There are none.")]).await;
        let asked = shop.say("s1", "count them, then wipe all of it").await;
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        test.clock.advance(DAYS);
        assert_eq!(shop.engine.sweep_acts().await.unwrap().expired, 1);
        let told = settled(&shop, &asked).await;
        assert!(told.text.starts_with("There are none.") && told.text.contains("Nobody answered in time"), "{}", told.text);
    }

    async fn where_no_run_waits_any_more_it_is_told_all_the_same(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all"))]).await;
        let asked = shop.say("s1", "wipe all of it").await;
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        let end = |tx: &mut Tx<'_>| {
            tx.execute("UPDATE runs SET state = 'done', ended_at = began_at WHERE tenant_id = $1", munshi_store::params![])
        };
        shop.db.write(shop.tenant, end).await.unwrap();
        test.clock.advance(DAYS);
        assert_eq!(shop.engine.sweep_acts().await.unwrap().expired, 1);
        assert!(last_to(&shop, shop.staff).await.text.starts_with("Nobody answered in time"));
    }

    async fn a_question_that_was_never_shown_is_answered_by_no_bare_yes(test: TestDb) {
        let script = [
            ScriptedTurn::text("Good morning."), ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("You are welcome."),
            ScriptedTurn::text("Gladly."), ScriptedTurn::text("It is wiped."),
        ];
        let shop = Shop::open(&test, script).await;
        hire_admin(&test, &shop).await;
        let hello = shop.engine.receive(shop.message(shop.owner, "o1", "hello there")).await.unwrap();
        let greeted = shop.outcome(&hello).await.message;
        let asked = shop.say("s1", "wipe all of it").await;
        shop.outcome(&asked).await;
        test.clock.advance(DAYS);
        assert_eq!(shop.engine.sweep_acts().await.unwrap().escalated, 1);
        let put = last_to(&shop, shop.owner).await;
        assert!(put.text.contains("all"), "{}", put.text);
        let say = |id: &str, seen| {
            InboundMessage { screen: ClientScreen { seen, ..ClientScreen::default() }, ..shop.message(shop.owner, id, "ok") }
        };
        // The page still shows the greeting, and says so or says nothing.
        for (id, seen, answer) in [("o2", None, "You are welcome."), ("o3", greeted, "Gladly.")] {
            let received = shop.engine.receive(say(id, seen)).await.unwrap();
            assert_eq!(shop.outcome(&received).await.text, answer, "{id}");
            assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval, "{id}");
        }
        assert_eq!(shop.world.effects().len(), 0);
    }

    async fn what_the_page_has_fetched_is_answered_by_name_of_it(test: TestDb) {
        let script = [ScriptedTurn::text("Good morning."), ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("It is wiped.")];
        let shop = Shop::open(&test, script).await;
        hire_admin(&test, &shop).await;
        let hello = shop.engine.receive(shop.message(shop.owner, "o1", "hello there")).await.unwrap();
        shop.outcome(&hello).await;
        let asked = shop.say("s1", "wipe all of it").await;
        shop.outcome(&asked).await;
        test.clock.advance(DAYS);
        shop.engine.sweep_acts().await.unwrap();
        let seen = Some(last_to(&shop, shop.owner).await.id);
        let yes = InboundMessage { screen: ClientScreen { seen, ..ClientScreen::default() }, ..shop.message(shop.owner, "o2", "ok") };
        let received = shop.engine.receive(yes).await.unwrap();
        assert_eq!(shop.outcome(&received).await.state, RunState::Done);
        assert_eq!(settled(&shop, &asked).await.text, "It is wiped.");
        assert_eq!(shop.world.effects().len(), 1);
    }

    async fn a_yes_answers_what_was_shown_and_nothing_that_came_behind_it(test: TestDb) {
        let script = [
            ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("Old is gone."),
        ];
        let shop = Shop::open(&test, script).await;
        hire_admin(&test, &shop).await;
        let asked = shop.say("s1", "wipe all of it").await;
        shop.outcome(&asked).await;
        test.clock.advance(DAYS);
        let own = shop.engine.receive(shop.message(shop.owner, "o1", "remove old")).await.unwrap();
        assert_eq!(shop.outcome(&own).await.state, RunState::WaitingApproval);
        assert_eq!(shop.engine.sweep_acts().await.unwrap().escalated, 1);
        assert!(last_to(&shop, shop.owner).await.text.contains("all"));
        let yes = shop.engine.receive(shop.message(shop.owner, "o2", "yes")).await.unwrap();
        assert_eq!(shop.outcome(&yes).await.text, "Old is gone.");
        assert_eq!((shop.notes().await, shop.world.effects().len()), (1, 0), "their own question alone");
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
    }

    async fn what_another_client_was_asked_was_not_shown_to_this_one(test: TestDb) {
        let script = [ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("All right."), ScriptedTurn::text("Gone.")];
        let shop = Shop::open(&test, script).await;
        let from = |client: &str, id: &str, text: &str| {
            let screen = ClientScreen { client: Some(client.to_owned()), ..ClientScreen::default() };
            InboundMessage { screen, ..shop.message(shop.staff, id, text) }
        };
        let asked = shop.engine.receive(from("agent", "1", "remove old")).await.unwrap();
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        let till = shop.engine.receive(from("till", "2", "ok")).await.unwrap();
        assert!(shop.outcome(&till).await.text.starts_with("All right."));
        assert_eq!(shop.notes().await, 0);
    }

    async fn what_no_response_has_shown_is_not_answered_by_a_bare_yes(test: TestDb) {
        let script = [ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("All right.")];
        let shop = Shop::open(&test, script).await;
        let asked = shop.say("1", "remove old").await;
        // The question is stored, and nobody says that a response has carried it: the client hung up, or the process died.
        let waits = shop.engine.wait_for_outcome(shop.tenant, asked.run).await.unwrap();
        assert_eq!((waits.state, waits.asks), (RunState::WaitingApproval, true));
        let yes = shop.say("2", "ok").await;
        assert!(shop.outcome(&yes).await.text.starts_with("All right."));
        assert_eq!(shop.notes().await, 0);
    }

    async fn what_a_response_to_another_client_has_shown_is_not_answered_either(test: TestDb) {
        let script = [ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("All right."), ScriptedTurn::text("Gone.")];
        let shop = Shop::open(&test, script).await;
        let asked = shop.say("1", "remove old").await;
        let waits = shop.engine.wait_for_outcome(shop.tenant, asked.run).await.unwrap();
        shop.engine.note_shown(shop.tenant, asked.run, waits.message.unwrap(), Some("agent".to_owned())).await;
        let yes = shop.say("2", "ok").await;
        assert!(shop.outcome(&yes).await.text.starts_with("All right."));
        assert_eq!(shop.notes().await, 0);
    }

    async fn a_question_of_others_brings_their_words_and_what_led_to_them(test: TestDb) {
        let script = [
            ScriptedTurn::text("Good morning."), ScriptedTurn::call("fetch", &arguments("letter")), ScriptedTurn::call("wipe", &arguments("all")),
            ScriptedTurn::call("note", &arguments("900 for Mallory")),
        ];
        let shop = Shop::open(&test, script).await;
        hire_admin(&test, &shop).await;
        let hello = shop.engine.receive(shop.message(shop.owner, "o1", "hello there")).await.unwrap();
        shop.outcome(&hello).await;
        let asked = shop.say("s1", "do what the letter says").await;
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        test.clock.advance(DAYS);
        assert_eq!(shop.engine.sweep_acts().await.unwrap().escalated, 1);
        // The owner's own conversation has read it now, in our own voice.
        let led = shop.engine.receive(shop.message(shop.owner, "o2", "go on with that then")).await.unwrap();
        let outcome = shop.outcome(&led).await;
        assert_eq!((outcome.state, shop.notes().await), (RunState::WaitingApproval, 0), "{outcome:?}");
    }

    async fn who_answers_at_the_last_second_and_the_sweep_wait_in_one_order(test: TestDb) {
        // SQLite has one writer: nobody waits for a row.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all"))]).await;
        hire_admin(&test, &shop).await;
        let asked = shop.say("1", "wipe all of it").await;
        let approval = shop.outcome(&asked).await.approval.unwrap();
        test.clock.advance(DAYS);
        let (hold, second) = (UnitHold::default(), test.open_again().await);
        let (held, session, now) = (hold.clone(), asked.session, test.clock.now());
        // As an answer or a merge goes: the conversation first, and its question then.
        let writes = "UPDATE approvals SET words = words WHERE tenant_id = $1 AND id = $2";
        let answer = second.write(shop.tenant, move |tx: &mut Tx<'_>| -> Result<u64, munshi_store::Error> {
            sessions::touch(tx, session, now)?;
            held.wait();
            tx.execute(writes, params![approval])
        });
        let swept = hold.run_against(&test, shop.engine.sweep_acts());
        let (answered, swept) = tokio::join!(answer, swept);
        assert_eq!((answered.unwrap(), swept.unwrap().escalated), (1, 1), "neither is given up for the other");
    }
}
