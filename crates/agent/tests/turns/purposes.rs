//! What somebody has to agree to before a tool is called for them: asked in the declared words, and theirs to say.

use std::sync::atomic::Ordering;
use std::time::Duration;

use munshi_conversations::{HaltReason, KeyUse, RunEvent, RunState, holds};
use munshi_identity::Role;
use munshi_identity::keys::{self, KeyCeiling, KeyMaker, KeySpeaker, KeySubject, NewApiKey};
use munshi_safety::acts;
use munshi_safety::consents::{self, PurposeConsent};
use munshi_safety::policy;
use munshi_store::{PageRequest, Tx};
use munshi_test_app::notes::OPEN_POLICY;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, administer, wait_until};
use munshi_types::tier::Channel;
use munshi_types::{Clock, InboundMessage, SystemRandom};

use crate::turns::crashes::taken_up;
use crate::turns::support::{Plan, Shop, arguments};

const WORDS: &str = "May we look up your credit? You can take it back.";
const PURPOSES: &str = "[consent.purposes.credit_check]\ndays = 30\n\
    words = { en = \"May we look up your credit? You can take it back.\", hi = \"क्या हम आपका क्रेडिट देखें?\" }\n";
const CONSENTS: &str = "SELECT COUNT(*) FROM consents WHERE tenant_id = $1";

/// A shop whose agent can look up what somebody has to agree to.
async fn open(test: &TestDb, declared: &str, script: impl IntoIterator<Item = ScriptedTurn>) -> Shop {
    let agent = Plan::default().agent.replace("\"fax\"]", "\"fax\", \"score\"]");
    let shop = Shop::open_with(test, script, Plan { agent, ..Plan::default() }).await;
    let (policy, now) = (policy::parse(&format!("{OPEN_POLICY}{declared}")).unwrap(), test.clock.now());
    let put = move |tx: &mut Tx<'_>| policy::apply(tx, &policy, "test", "", now);
    shop.db.write(shop.tenant, put).await.unwrap();
    shop
}

async fn consents_of(shop: &Shop) -> Vec<PurposeConsent> {
    let person = shop.staff;
    let read = move |tx: &mut Tx<'_>| consents::list(tx, person, &PageRequest::new(None, 10));
    shop.db.read(shop.tenant, read).await.unwrap().items
}

async fn add_key(test: &TestDb, shop: &Shop, carries: KeySubject) -> KeyUse {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    let new = NewApiKey {
        name: format!("{carries:?}").chars().take(60).collect(),
        carries,
        areas: None,
        bindings: None,
        expires_at: None,
        speaks_as: KeySpeaker::Person,
        made_by: "ravi".to_owned(),
        maker: KeyMaker::from_name("ravi"),
    };
    let unit = move |tx: &mut Tx<'_>| administer(tx, |tx| keys::add(tx, &ids, &SystemRandom, &new, now));
    let key = shop.db.write(shop.tenant, unit).await.unwrap().key.id;
    let ceiling = KeyCeiling { role: Some(Role::Staff), ..KeyCeiling::default() };
    KeyUse { key, speaks_as: KeySpeaker::Person, ceiling }
}

fn looks(times: usize) -> impl Iterator<Item = ScriptedTurn> {
    (0..times).map(|_| ScriptedTurn::call("score", &arguments("Asha")))
}

on_both! {
    async fn a_turn_goes_on_after_their_yes(test: TestDb) {
        let script = looks(1).chain([ScriptedTurn::text("It is good.")]).chain(looks(1)).chain([ScriptedTurn::text("Still good.")]);
        let shop = open(&test, PURPOSES, script).await;
        let asked = shop.ask("1", "how is my credit?").await;
        assert_eq!(asked.state, RunState::WaitingApproval);
        assert!(asked.text.starts_with(WORDS), "to the letter: {}", asked.text);
        assert!(asked.text.contains("Asha"), "and what it is for now: {}", asked.text);
        let yes = shop.say("2", "yes").await;
        let done = shop.outcome(&yes).await;
        assert_eq!((done.text.as_str(), done.state), ("It is good.", RunState::Done));
        let given = consents_of(&shop).await;
        let [consent] = given.as_slice() else { panic!("{given:?}") };
        assert_eq!((consent.words.as_str(), consent.message), (WORDS, Some(yes.message)));
        assert_eq!((consent.language.as_ref().map(munshi_types::tier::LanguageCode::as_str), consent.given_via.as_str()), (Some("en"), "chat"));
        assert_eq!(shop.ask("3", "and now?").await.text, "Still good.", "it holds for its time");
        let acts = shop.db.read(shop.tenant, |tx| acts::list(tx, &PageRequest::new(None, 10))).await.unwrap().items;
        assert_eq!(acts.iter().map(|act| act.consent).collect::<Vec<_>>(), [Some(consent.id); 2]);
    }

    async fn nobody_says_yes_in_their_place(test: TestDb) {
        let shop = open(&test, PURPOSES, looks(5).chain([ScriptedTurn::text("It is good.")])).await;
        let ask = async |id: &str| {
            assert_eq!(shop.ask(id, "how is my credit?").await.state, RunState::WaitingApproval);
        };
        let expect_nothing = async |received| {
            let told = shop.outcome(&received).await;
            assert_eq!((told.state, shop.number(CONSENTS).await), (RunState::Done, 0), "{told:?}");
            assert!(told.text.contains("waiting"), "{told:?}");
        };
        // A colleague's key of a role names anybody; one that was made for them was in somebody else's hands.
        let carries = [KeySubject::Role(Role::Owner), KeySubject::Person(shop.staff)];
        for (number, carries) in carries.into_iter().enumerate() {
            ask(&format!("before key {number}")).await;
            let key = add_key(&test, &shop, carries).await;
            let yes = shop.message(shop.staff, &format!("key {number}"), "yes");
            expect_nothing(shop.engine.receive_with_key(yes, key).await.unwrap()).await;
        }
        // A host's server may have written it itself.
        ask("before host").await;
        let mut yes = shop.message(shop.staff, "host", "yes");
        yes.from.is_vouched = true;
        expect_nothing(shop.engine.receive(yes).await.unwrap()).await;
        // Nor is what is said in a group anybody's own word.
        ask("before group").await;
        let mut yes = shop.message(shop.staff, "group", "yes");
        (yes.from.is_vouched, yes.from.is_group, yes.from.member) = (true, true, Some("meera".to_owned()));
        expect_nothing(shop.engine.receive(yes).await.unwrap()).await;
        ask("before them").await;
        assert_eq!(shop.ask("2", "yes").await.text, "It is good.");
        let consent = consents_of(&shop).await.remove(0);
        assert_eq!((consent.channel, consent.key), (Some(Channel::Web), None));
    }

    async fn they_are_asked_in_their_language(test: TestDb) {
        let shop = open(&test, PURPOSES, looks(1)).await;
        let asked = shop.ask("1", "मेरा क्रेडिट कैसा है?").await;
        assert!(asked.text.starts_with("क्या हम आपका क्रेडिट देखें?"), "{}", asked.text);
    }

    async fn a_no_is_none_for_good(test: TestDb) {
        let shop = open(&test, PURPOSES, looks(2)).await;
        assert_eq!(shop.ask("1", "how is my credit?").await.state, RunState::WaitingApproval);
        assert_eq!(shop.ask("2", "no").await.state, RunState::Done);
        assert_eq!(shop.number(CONSENTS).await, 0);
        let again = shop.ask("3", "how is my credit then?").await;
        assert_eq!(again.state, RunState::WaitingApproval, "they may be asked another time");
        assert!(again.text.starts_with(WORDS), "{}", again.text);
    }

    async fn what_is_withdrawn_is_asked_anew(test: TestDb) {
        let script = looks(1).chain([ScriptedTurn::text("It is good.")]).chain(looks(1));
        let shop = open(&test, PURPOSES, script).await;
        shop.ask("1", "how is my credit?").await;
        assert_eq!(shop.ask("2", "yes").await.text, "It is good.");
        let (consent, now) = (consents_of(&shop).await.remove(0).id, test.clock.now());
        shop.db.write(shop.tenant, move |tx| consents::withdraw(tx, consent, "test", now)).await.unwrap();
        let again = shop.ask("3", "and now?").await;
        assert_eq!((again.state, shop.number(CONSENTS).await), (RunState::WaitingApproval, 1));
    }

    async fn their_yes_is_heard_by_another_process(test: TestDb) {
        let shop = open(&test, PURPOSES, looks(1)).await;
        assert_eq!(shop.ask("1", "how is my credit?").await.state, RunState::WaitingApproval);
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("It is good.")]).await;
        assert_eq!(other.ask("2", "yes").await.text, "It is good.");
        assert_eq!((shop.number(CONSENTS).await, shop.world.looks.load(Ordering::SeqCst)), (1, 1));
    }

    async fn they_take_it_back_in_a_word_of_theirs(test: TestDb) {
        let script = looks(1).chain([ScriptedTurn::text("It is good."), ScriptedTurn::text("There is none.")]).chain(looks(1));
        let shop = open(&test, PURPOSES, script).await;
        shop.ask("1", "how is my credit?").await;
        assert_eq!(shop.ask("2", "yes").await.text, "It is good.");
        let told = shop.ask("3", "I withdraw my consent").await;
        assert!(told.state == RunState::Done && told.text.contains(WORDS), "no model is asked: {told:?}");
        let consent = consents_of(&shop).await.remove(0);
        assert_eq!((consent.withdrawn_at.is_some(), consent.withdrawn_via.as_deref()), (true, Some("chat")));
        assert_eq!(shop.ask("4", "I withdraw my consent").await.text, "There is none.", "nothing is left to end");
        assert_eq!(shop.ask("5", "and my credit?").await.state, RunState::WaitingApproval);
    }

    async fn they_take_it_back_while_a_colleague_has_the_conversation(test: TestDb) {
        let script = looks(1).chain([ScriptedTurn::text("It is good.")]);
        let shop = open(&test, PURPOSES, script).await;
        let first = shop.say("1", "how is my credit?").await;
        shop.outcome(&first).await;
        assert_eq!(shop.ask("2", "yes").await.text, "It is good.");
        let (id, owner, session, now) = (test.ids.next(), shop.owner, first.session, test.clock.now());
        let queue = shop.engine.job_queue();
        let take = move |tx: &mut Tx<'_>| holds::take(tx, &queue, session, owner, (id, now));
        shop.db.write(shop.tenant, take).await.unwrap();
        let asked = shop.model.requests().len();
        let told = shop.ask("3", "I withdraw my consent").await;
        assert!(told.state == RunState::Done && told.text.contains(WORDS), "{told:?}");
        assert!(consents_of(&shop).await[0].withdrawn_at.is_some());
        // With nothing left to end it is a message for the colleague, as any other.
        let again = shop.ask("4", "I withdraw my consent").await;
        assert_eq!((again.state, again.halt), (RunState::Halted, Some(HaltReason::Held)));
        assert_eq!(shop.model.requests().len(), asked, "no model is asked");
    }

    async fn what_they_take_back_twice_while_a_colleague_has_the_conversation_is_answered_once(test: TestDb) {
        let gate = ScriptGate::default();
        let script = looks(1).chain([ScriptedTurn::text("It is good."), ScriptedTurn::text("One moment.").with_gate(&gate)]);
        let shop = open(&test, PURPOSES, script).await;
        let first = shop.say("1", "how is my credit?").await;
        shop.outcome(&first).await;
        assert_eq!(shop.ask("2", "yes").await.text, "It is good.");
        let before = shop.say("3", "what else do you have").await;
        wait_until(async || shop.model.requests().len() == 3).await;
        let (id, owner, session, now) = (test.ids.next(), shop.owner, first.session, test.clock.now());
        let queue = shop.engine.job_queue();
        let take = move |tx: &mut Tx<'_>| holds::take(tx, &queue, session, owner, (id, now));
        shop.db.write(shop.tenant, take).await.unwrap();
        // Both come while there is something to end, and one ends it.
        let (one, two) = (shop.say("4", "I withdraw my consent").await, shop.say("5", "I withdraw my consent").await);
        gate.open();
        assert_eq!(shop.outcome(&before).await.text, "One moment.");
        assert!(shop.outcome(&one).await.text.contains(WORDS));
        let second = shop.outcome(&two).await;
        assert_eq!((second.state, second.halt, second.text.as_str()), (RunState::Halted, Some(HaltReason::Held), ""));
        let events = shop.events(&two, None).await;
        assert!(matches!(events.as_slice(), [(_, RunEvent::Done { message: None, .. })]), "{events:?}");
        assert_eq!(shop.model.requests().len(), 3, "no model is asked");
        let reserved = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
        assert_eq!(shop.number(reserved).await, 0, "nothing stays set aside");
    }

    async fn where_anybody_may_write_as_anybody_nobody_consents(test: TestDb) {
        let shop = open(&test, PURPOSES, looks(1)).await;
        let say = async |id: &str, text: &str| {
            let said = InboundMessage { channel: Channel::Email, ..shop.message(shop.staff, id, text) };
            let received = shop.engine.receive(said).await.unwrap();
            shop.outcome(&received).await
        };
        assert_eq!(say("1", "how is my credit?").await.state, RunState::WaitingApproval);
        let told = say("2", "yes").await;
        assert_eq!((told.state, shop.number(CONSENTS).await), (RunState::Done, 0), "{told:?}");
        assert!(told.text.contains("waiting"), "{told:?}");
    }

    async fn where_it_is_unsure_they_are_asked(test: TestDb) {
        let script = looks(1).chain([ScriptedTurn::text("It is good."), ScriptedTurn::text("You may.")]);
        let shop = open(&test, PURPOSES, script).await;
        shop.ask("1", "how is my credit?").await;
        assert_eq!(shop.ask("2", "yes").await.text, "It is good.");
        let asked = shop.ask("3", "how do I withdraw my consent?").await;
        assert!(asked.state == RunState::Done && asked.text.contains(WORDS), "no model is asked: {asked:?}");
        assert!(shop.ask("4", "no").await.text.contains("cancelled"));
        assert!(consents_of(&shop).await[0].withdrawn_at.is_none());
        shop.ask("5", "can I cancel my consent?").await;
        assert_eq!(shop.ask("6", "but may I cancel my consent?").await.text, "You may.", "they are asked once");
        shop.ask("7", "can I cancel my consent?").await;
        let told = shop.ask("8", "yes").await;
        assert!(told.text.contains(WORDS), "{told:?}");
        assert!(consents_of(&shop).await[0].withdrawn_at.is_some());
    }

    async fn a_withdrawal_is_told_whenever_the_process_dies(test: TestDb) {
        let script = || looks(1).chain([ScriptedTurn::text("It is good.")]);
        let mut shop = open(&test, PURPOSES, script()).await;
        for round in 0..6 {
            shop.ask(&format!("ask {round}"), "how is my credit?").await;
            assert_eq!(shop.ask(&format!("yes {round}"), "yes").await.text, "It is good.");
            let said = shop.say(&format!("back {round}"), "I withdraw my consent").await;
            tokio::time::sleep(Duration::from_millis(4 * round)).await;
            shop.engine.abandon();
            // What was begun in a transaction runs to its end, as it does in a process that dies behind it.
            tokio::time::sleep(Duration::from_millis(30)).await;
            shop = shop.again(&test, script()).await;
            let told = taken_up(&test, &shop, &said).await;
            assert!(told.text.contains("ended"), "{round}: {told:?}");
            assert!(consents_of(&shop).await.iter().all(|consent| consent.withdrawn_at.is_some()));
        }
    }

    async fn what_nobody_declared_is_not_offered(test: TestDb) {
        let script = [ScriptedTurn::text("I can't look that up."), ScriptedTurn::text("Now I can.")];
        let shop = open(&test, "", script).await;
        shop.ask("1", "how is my credit?").await;
        let (policy, now) = (policy::parse(&format!("{OPEN_POLICY}{PURPOSES}")).unwrap(), test.clock.now());
        let declare = move |tx: &mut Tx<'_>| policy::apply(tx, &policy, "test", "", now);
        shop.db.write(shop.tenant, declare).await.unwrap();
        shop.ask("2", "and now?").await;
        let offered = shop.model.requests().into_iter().map(|asked| {
            asked.request.tools.iter().any(|tool| tool.name.as_str() == "score")
        });
        assert_eq!(offered.collect::<Vec<_>>(), [false, true]);
    }
}
