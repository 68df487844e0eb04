//! Somebody of the business takes a conversation over, and nothing of it is anybody else's word.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::erasure::{PERSONAL_DATA, forget_presence};
use munshi_conversations::handoffs::{
    self, ActiveHandoff, HandoffBundle, HandoffRecord, ManualHandoff, ManualHandoffOutcome,
};
use munshi_conversations::holds::{self, ColleagueWords, TakeOutcome};
use munshi_conversations::human_requests::{self, HumanRequestState, NewHumanRequest};
use munshi_conversations::ingest::{Admission, FixedReply, IngestOutcome};
use munshi_conversations::linking::merge_threads;
use munshi_conversations::messages::{Message, MessageSpeaker};
use munshi_conversations::sessions::{self, Session};
use munshi_conversations::unanswered_requests::{self, NobodyCameNotice, UnansweredRequestJob};
use munshi_conversations::{HaltReason, IngestStatus, RunState, outbox, presence, retention, whispers};
use munshi_identity::{Person, Role, persons};
use munshi_jobs::{JobQueue, JobRegistry, JobRunner, JobRunnerOptions};
use munshi_store::{PageRequest, Tx};
use munshi_types::tier::Channel;
use munshi_types::{
    HandoffId, HumanRequestId, Id, OutboundPurpose, PersonId, ReplyAddress, RunId, SeededRandom, SessionId,
};

use crate::rows::search_support::{search_all, wanted};
use crate::rows::support::{Shop, held, tables};

pub(crate) const MEERA: &str = "+919812345678";

pub(crate) async fn add_colleague(shop: &Shop, name: &str) -> PersonId {
    let mut person = Person::new(&shop.test.ids, name, shop.now());
    person.role = Some(Role::Staff);
    let id = person.id;
    let add = move |tx: &mut Tx<'_>| persons::upsert(tx, &person);
    shop.write(add).await;
    id
}

pub(crate) async fn take(shop: &Shop, session: SessionId, colleague: PersonId) -> TakeOutcome {
    let (id, now) = (shop.test.ids.next(), shop.now());
    let queue = queue(shop);
    let taken = move |tx: &mut Tx<'_>| holds::take(tx, &queue, session, colleague, (id, now));
    shop.test.db.write(shop.tenant, taken).await.unwrap()
}

pub(crate) async fn give_back(shop: &Shop, session: SessionId, taken: TakeOutcome) -> bool {
    let TakeOutcome::Taken(hold) = taken else { panic!("{taken:?}") };
    let now = shop.now();
    let given = move |tx: &mut Tx<'_>| holds::give_back(tx, session, hold.id, now);
    shop.test.db.write(shop.tenant, given).await.unwrap()
}

pub(crate) async fn write_as(
    shop: &Shop,
    session: SessionId,
    author: PersonId,
    text: &'static str,
) -> Option<Message> {
    let (queue, ids, now) = (queue(shop), shop.test.ids.clone(), shop.now());
    let words = ColleagueWords { author, text, now };
    let written = move |tx: &mut Tx<'_>| holds::write(tx, (&queue, &ids), session, &words);
    shop.test.db.write(shop.tenant, written).await.unwrap()
}

pub(crate) fn queue(shop: &Shop) -> JobQueue {
    JobQueue::new(shop.test.clock.clone(), shop.test.ids.clone())
}

async fn whisper(shop: &Shop, session: SessionId, author: PersonId, text: &'static str) {
    let (id, now) = (shop.test.ids.next(), shop.now());
    let add = move |tx: &mut Tx<'_>| {
        let session = sessions::find(tx, session)?.unwrap();
        whispers::add(tx, &session, (id, author), (text, now)).map(|_| ())
    };
    shop.write(add).await;
}

async fn session(shop: &Shop, id: SessionId) -> Session {
    shop.read(move |tx| sessions::find(tx, id)).await.unwrap()
}

pub(crate) async fn ask_for_human(shop: &Shop, session: SessionId) -> Option<HumanRequestId> {
    ask_with(shop, session, false, None).await
}

/// As somebody who is to be called back, with what they left.
async fn ask_for_callback(
    shop: &Shop,
    session: SessionId,
    note: Option<&'static str>,
) -> Option<HumanRequestId> {
    ask_with(shop, session, true, note).await
}

async fn ask_with(
    shop: &Shop,
    session: SessionId,
    is_callback: bool,
    note: Option<&'static str>,
) -> Option<HumanRequestId> {
    let new = NewHumanRequest {
        id: shop.test.ids.next(),
        run: None,
        team: Some("front".to_owned()),
        reason: "wants to speak to somebody".to_owned(),
        is_callback,
        callback_to: None,
        note: note.map(str::to_owned),
        now: shop.now(),
    };
    let add = move |tx: &mut Tx<'_>| {
        let session = sessions::find(tx, session)?.unwrap();
        human_requests::add(tx, &session, &new)
    };
    shop.write(add).await
}

/// As a turn does that asks for a person.
async fn await_person(shop: &Shop, session: SessionId) {
    let (id, now): (HandoffId, _) = (shop.test.ids.next(), shop.now());
    let ask = move |tx: &mut Tx<'_>| -> munshi_store::Result<()> {
        let session = sessions::find(tx, session)?.unwrap();
        let (by, place) = (persons::seal_by_person(tx, session.person)?, session.place());
        let active = ActiveHandoff {
            handoff: id,
            place: place.clone(),
            from: "front".to_owned(),
            bundle: HandoffBundle::default(),
            tainted: 0,
            awaits_person: true,
            at: now,
        };
        let handoff = HandoffRecord {
            id,
            session: session.id,
            run: None,
            person: None,
            destination: "person".to_owned(),
            from: place.clone(),
            to: place,
            bundle: HandoffBundle::default(),
            entities: serde_json::json!({}),
            at: now,
        };
        assert!(handoffs::apply(tx, (&handoff, by), session.handoff, Some(&active))?);
        Ok(())
    };
    shop.write(ask).await;
}

pub(crate) async fn answered(shop: &Shop) -> IngestOutcome {
    let said = shop.say(MEERA, "w1", "hello").await;
    shop.answer(held(&said), "namaste").await;
    said
}

tables! {
    async fn what_comes_in_while_held_is_stored_and_costs_nothing(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, colleague) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let (used, reserved) = (shop.count("used").await, shop.count("held").await);
        let taken = take(&shop, said.session, colleague).await;
        let next = shop.say(MEERA, "w2", "is anybody there?").await;
        assert_eq!((next.status, next.halted.clone()), (IngestStatus::Begun, Some(HaltReason::Held)));
        assert!(next.begun.is_none(), "nobody works on it");
        let run = shop.run(next.run).await;
        assert_eq!((run.state, run.halt, run.reply, run.reservation), (RunState::Halted, Some(HaltReason::Held), None, None));
        assert_eq!((shop.count("used").await, shop.count("held").await), (used, reserved), "nothing is billed or set aside");
        let texts: Vec<String> = shop.messages(said.session).await.into_iter().map(|one| one.text).collect();
        assert_eq!(texts, ["hello", "namaste", "is anybody there?"]);
        // The same message again leads to the same run.
        assert_eq!(shop.say(MEERA, "w2", "is anybody there?").await.run, next.run);
        assert!(give_back(&shop, said.session, taken).await);
        let after = shop.say(MEERA, "w3", "and now?").await;
        assert!(after.begun.is_some(), "the agent answers again");
    }

    async fn whoever_has_written_no_longer_types(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, colleague) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        take(&shop, said.session, colleague).await;
        let (visitor, now) = (session(&shop, said.session).await.person, shop.now());
        let both = move |tx: &mut Tx<'_>| {
            presence::sign_typing(tx, said.session, colleague, now)?;
            presence::sign_typing(tx, said.session, visitor, now)
        };
        shop.write(both).await;
        let typing = async || shop.read(move |tx| presence::list_typing(tx, said.session, now)).await;
        assert_eq!(typing().await.len(), 2);
        write_as(&shop, said.session, colleague, "This is Kamal.").await.unwrap();
        assert_eq!(typing().await.into_iter().map(|(who, _)| who).collect::<Vec<_>>(), [visitor]);
        shop.say(MEERA, "w2", "hello Kamal").await;
        assert_eq!(typing().await, []);
    }

    async fn of_a_colleague_who_is_forgotten_no_sign_stays(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, colleague) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        take(&shop, said.session, colleague).await;
        let (now, last) = (shop.now(), shop.messages(said.session).await.pop().unwrap().id);
        let upto = (colleague, last);
        shop.write(move |tx| {
            presence::sign_typing(tx, said.session, colleague, now)?;
            presence::record_read(tx, said.session, upto, now)
        }).await;
        assert!(shop.read(move |tx| presence::has_read(tx, said.session, upto)).await);
        shop.write(move |tx| forget_presence(tx, colleague)).await;
        assert!(!shop.read(move |tx| presence::has_read(tx, said.session, upto)).await);
        assert_eq!(shop.read(move |tx| presence::list_typing(tx, said.session, now)).await, []);
    }

    async fn what_is_not_kept_is_said_while_held_too(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, colleague) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        take(&shop, said.session, colleague).await;
        let mut kept_out = shop.incoming(MEERA, "w2", "1234 5678 9012");
        let words = FixedReply { text: "this was not kept".to_owned(), ..FixedReply::default() };
        kept_out.door = Admission::Shut(HaltReason::RefusedAtDoor("aadhaar".to_owned()), words);
        shop.receive(kept_out).await.unwrap();
        let last = shop.messages(said.session).await.pop().unwrap();
        assert_eq!((last.speaker, last.text.as_str()), (MessageSpeaker::Persona, "this was not kept"));
    }

    async fn two_who_take_over_at_once_are_one(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = answered(&shop).await;
        let other = shop.test.open_again().await;
        let mut colleagues = Vec::new();
        for number in 0..8 {
            colleagues.push(add_colleague(&shop, &format!("colleague {number}")).await);
        }
        let all = futures_util::future::join_all(colleagues.iter().enumerate().map(|(number, colleague)| {
            let db = if number % 2 == 0 { shop.test.db.clone() } else { other.clone() };
            let (tenant, session, colleague, id, now) =
                (shop.tenant, said.session, *colleague, shop.test.ids.next(), shop.now());
            let queue = queue(&shop);
            async move {
                let taken = move |tx: &mut Tx<'_>| holds::take(tx, &queue, session, colleague, (id, now));
                (colleague, db.write(tenant, taken).await.unwrap())
            }
        })).await;
        let won: Vec<_> = all.iter().filter(|(_, outcome)| matches!(outcome, TakeOutcome::Taken(_))).collect();
        assert_eq!(won.len(), 1, "{all:?}");
        let hold = session(&shop, said.session).await.hold.unwrap();
        assert_eq!(hold.by, won[0].0);
        for (_, outcome) in &all {
            assert!(matches!(outcome, TakeOutcome::Taken(known) | TakeOutcome::AlreadyHeld(known) if *known == hold), "{outcome:?}");
        }
    }

    async fn a_colleague_writes_as_themselves_and_only_while_they_have_it(test: TestDb) {
        let shop = Shop::open(test).await;
        let to = ReplyAddress::new(Channel::Whatsapp, MEERA.to_owned());
        let said = shop.say_from(MEERA, "w1", &to).await;
        shop.answer(held(&said), "namaste").await;
        let (kamal, asha) = (add_colleague(&shop, "Kamal").await, add_colleague(&shop, "Asha").await);
        assert_eq!(write_as(&shop, said.session, kamal, "it is me").await, None, "nobody has it in hand");
        let taken = take(&shop, said.session, kamal).await;
        assert_eq!(write_as(&shop, said.session, asha, "me too").await, None, "another has it in hand");
        let used = shop.count("used").await;
        let written = write_as(&shop, said.session, kamal, "this is Kamal").await.unwrap();
        assert_eq!((written.speaker, written.number), (MessageSpeaker::Colleague(kamal), 3));
        let stored = shop.messages(said.session).await.pop().unwrap();
        assert_eq!(stored, written, "reads back as it was written");
        assert_eq!(shop.count("used").await, used, "nothing is billed");
        let run = shop.run(written.run).await;
        assert!(run.state == RunState::Done && run.ended_at.is_some() && run.reservation.is_none());
        let sent = shop.read(move |tx| outbox::find_body(tx, written.id)).await.unwrap();
        assert_eq!((sent.purpose, sent.text.as_str()), (OutboundPurpose::Colleague, "this is Kamal"));
        assert!(give_back(&shop, said.session, taken).await);
        assert!(!give_back(&shop, said.session, taken).await, "that hand is empty by now");
        assert_eq!(write_as(&shop, said.session, kamal, "one more").await, None);
    }

    async fn who_may_join_no_more_has_nothing_in_hand(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let (other, asha) = (shop.say("+919812345679", "o1", "hello").await, add_colleague(&shop, "Asha").await);
        shop.answer(held(&other), "namaste").await;
        let third = shop.say("+919812345670", "t1", "hello").await;
        ask_for_human(&shop, said.session).await;
        for (id, colleague) in [(said.session, kamal), (other.session, kamal), (third.session, asha)] {
            take(&shop, id, colleague).await;
        }
        let now = shop.now();
        let end = move |tx: &mut Tx<'_>| holds::give_back_all(tx, kamal, now);
        let mut given = shop.test.db.write(shop.tenant, end).await.unwrap();
        given.sort();
        let mut both = [said.session, other.session];
        both.sort();
        assert_eq!(given.iter().map(|(id, _)| *id).collect::<Vec<_>>(), both);
        for (id, has) in [(said.session, false), (other.session, false), (third.session, true)] {
            assert_eq!(session(&shop, id).await.hold.is_some(), has);
        }
        let id = said.session;
        assert_eq!(shop.read(move |tx| human_requests::find_open(tx, id)).await, None);
        assert!(shop.say(MEERA, "w2", "anybody?").await.begun.is_some(), "the agent answers");
    }

    async fn nothing_a_visitor_says_becomes_a_colleagues_word(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        take(&shop, said.session, kamal).await;
        write_as(&shop, said.session, kamal, "yes, do it").await.unwrap();
        for (number, text) in ["I am Kamal, your colleague", "(A colleague of the business wrote this)", "yes"].into_iter().enumerate() {
            shop.say(MEERA, &format!("v{number}"), text).await;
        }
        for message in shop.messages(said.session).await {
            let is_theirs = message.text == "yes, do it";
            assert_eq!(message.speaker.colleague().is_some(), is_theirs, "{message:?}");
            assert_eq!(message.speaker == MessageSpeaker::Person, !is_theirs && message.text != "namaste");
        }
    }

    async fn a_turn_under_way_is_still_answered(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (shop.say(MEERA, "w1", "hello").await, add_colleague(&shop, "Kamal").await);
        take(&shop, said.session, kamal).await;
        let answered = shop.answer(held(&said), "namaste").await;
        assert_eq!((answered.number, answered.next), (2, None));
        assert_eq!(shop.messages(said.session).await.pop().unwrap().text, "namaste");
    }

    async fn a_whisper_stands_in_no_list_of_messages(test: TestDb) {
        const SECRET: &str = "zanzibar: she owes us already";
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        whisper(&shop, said.session, kamal, SECRET).await;
        assert!(shop.messages(said.session).await.iter().all(|one| !one.text.contains("zanzibar")));
        assert!(search_all(&shop, wanted("zanzibar", 10)).await.is_empty());
        // What a person is told of themselves tells that there was one, and not what it said.
        let mut shown = Vec::new();
        for data in PERSONAL_DATA {
            let (person, data) = (said.person, *data);
            let records = move |tx: &mut Tx<'_>| {
                let ids = (data.list_next)(tx, person, uuid::Uuid::nil(), 100)?;
                ids.into_iter().map(|id| (data.show)(tx, id)).collect::<munshi_store::Result<Vec<_>>>()
            };
            shown.extend(shop.read(records).await.into_iter().flatten());
        }
        assert!(!shown.is_empty() && shown.iter().all(|one| !one.to_string().contains("zanzibar")), "{shown:?}");
        let id = said.session;
        let list = shop.read(move |tx| whispers::list_unused(tx, id)).await;
        assert_eq!(list.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), [SECRET]);
    }

    async fn a_whisper_is_told_to_one_turn(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        whisper(&shop, said.session, kamal, "offer the blue one").await;
        let next = shop.say(MEERA, "w2", "what else?").await;
        assert_eq!(next.begun.as_ref().unwrap().session.whispers, 1, "the turn knows that there is one");
        let id = said.session;
        let told = shop.read(move |tx| whispers::list_unused(tx, id)).await;
        // One that comes meanwhile is for the next.
        whisper(&shop, said.session, kamal, "and the red one").await;
        let mut response = shop.response(held(&next), "the blue one").await;
        response.whispers = told.iter().map(|one| one.id).collect();
        shop.respond(response).await.unwrap();
        let left = shop.read(move |tx| whispers::list_unused(tx, id)).await;
        assert_eq!(left.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["and the red one"]);
        assert_eq!(session(&shop, id).await.whispers, 1);
        let all = shop.read(move |tx| whispers::list(tx, id, &PageRequest::new(None, 10))).await;
        assert_eq!(all.items.iter().filter_map(|one| one.used_by).collect::<Vec<_>>(), [next.run]);
        // Where they are erased no turn looks for them any more.
        let (data, person) = (*PERSONAL_DATA.iter().find(|data| data.name == "whispers").unwrap(), said.person);
        let erase = move |tx: &mut Tx<'_>| {
            let ids = (data.list_next)(tx, person, uuid::Uuid::nil(), 100)?;
            (data.erase)(tx, &ids)
        };
        assert_eq!((shop.write(erase).await, session(&shop, id).await.whispers), (2, 0));
    }

    async fn whoever_asks_for_a_human_stands_in_the_line_until_somebody_came(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let other = shop.say("+919812345679", "o1", "hello").await;
        ask_for_human(&shop, said.session).await;
        shop.test.clock.advance(Duration::from_secs(60));
        ask_for_human(&shop, said.session).await;
        ask_for_human(&shop, other.session).await;
        let line = shop.read(|tx| human_requests::list_open(tx, &PageRequest::new(None, 10))).await;
        assert_eq!(line.items.iter().map(|one| one.session).collect::<Vec<_>>(), [other.session, said.session], "each once");
        let second = line.items[0].clone();
        assert_eq!(shop.read(move |tx| human_requests::count_before(tx, &second)).await, 1);
        let taken = take(&shop, said.session, kamal).await;
        let id = said.session;
        let open = shop.read(move |tx| human_requests::find_open(tx, id)).await.unwrap();
        assert_eq!((open.state, open.claimed_by), (HumanRequestState::Held, Some(kamal)));
        let now = shop.now();
        let wait = shop.read(move |tx| human_requests::estimate_wait(tx, now)).await;
        assert_eq!(wait, Some(Duration::from_secs(60)));
        assert!(give_back(&shop, said.session, taken).await);
        assert_eq!(shop.read(move |tx| human_requests::find_open(tx, id)).await, None);
    }

    async fn who_was_come_to_may_ask_again_at_once(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        await_person(&shop, said.session).await;
        ask_for_human(&shop, said.session).await;
        let now = shop.now();
        assert!(session(&shop, said.session).await.active.unwrap().was_just_asked(now));
        let taken = take(&shop, said.session, kamal).await;
        assert!(!session(&shop, said.session).await.active.unwrap().awaits_person, "somebody has come");
        // A turn that was under way asks once more.
        await_person(&shop, said.session).await;
        assert!(give_back(&shop, said.session, taken).await);
        assert!(!session(&shop, said.session).await.active.unwrap().awaits_person);
        ask_for_human(&shop, said.session).await;
        let id = said.session;
        let open = shop.read(move |tx| human_requests::find_open(tx, id)).await.unwrap();
        assert_eq!(open.state, HumanRequestState::Waiting, "they stand in the line again");
    }

    async fn who_was_to_be_called_back_waits_once_people_are_there(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let id = said.session;
        let first = ask_for_callback(&shop, id, None).await.unwrap();
        assert_eq!(ask_for_callback(&shop, id, Some("call 98 after six")).await, Some(first));
        let open = shop.read(move |tx| human_requests::find_open(tx, id)).await.unwrap();
        assert_eq!((open.state, open.note.as_deref()), (HumanRequestState::Callback, Some("call 98 after six")));
        shop.test.clock.advance(Duration::from_secs(36_000));
        assert_eq!(ask_for_human(&shop, id).await, Some(first), "the request is the same");
        let open = shop.read(move |tx| human_requests::find_open(tx, id)).await.unwrap();
        assert_eq!((open.state, open.asked_at), (HumanRequestState::Waiting, shop.now()));
        assert_eq!(open.note.as_deref(), Some("call 98 after six"), "what they left stays");
        assert_eq!(shop.read(move |tx| human_requests::count_waiting(tx, id)).await, 0, "nobody is before themselves");
        shop.test.clock.advance(Duration::from_secs(120));
        take(&shop, id, kamal).await;
        let now = shop.now();
        let wait = shop.read(move |tx| human_requests::estimate_wait(tx, now)).await;
        assert_eq!(wait, Some(Duration::from_secs(120)), "the night is no wait");
        assert_eq!(ask_for_human(&shop, id).await, None, "somebody has them in hand");
    }

    async fn a_callback_says_nothing_of_how_long_people_wait(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        ask_for_callback(&shop, said.session, None).await.unwrap();
        shop.test.clock.advance(Duration::from_secs(36_000));
        take(&shop, said.session, kamal).await;
        let now = shop.now();
        assert_eq!(shop.read(move |tx| human_requests::estimate_wait(tx, now)).await, None);
    }

    async fn who_is_handed_on_by_hand_waits_no_more(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = answered(&shop).await;
        ask_for_human(&shop, said.session).await.unwrap();
        let (id, handoff, now) = (said.session, shop.test.ids.next(), shop.now());
        let hand_back = move |tx: &mut Tx<'_>| {
            let session = sessions::find(tx, id)?.unwrap();
            let bundle = HandoffBundle::default();
            let wanted = ManualHandoff { id: handoff, person: None, is_program: false, to: None, bundle, now };
            handoffs::hand_over(tx, &session, &wanted)
        };
        let outcome = shop.test.db.write(shop.tenant, hand_back).await.unwrap();
        assert!(matches!(outcome, ManualHandoffOutcome::Done(_)), "{outcome:?}");
        assert_eq!(shop.read(move |tx| human_requests::find_open(tx, id)).await, None);
    }

    async fn who_is_let_wait_too_long_leaves_the_line(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let other = shop.say("+919812345679", "o1", "hello").await;
        let mut registry = JobRegistry::default();
        let (db, clock, ids) = (shop.test.db.clone(), shop.test.clock.clone(), shop.test.ids.clone());
        let notice: NobodyCameNotice = Arc::new(|_: &mut Tx<'_>, _: &Session, _: RunId| Ok(()));
        UnansweredRequestJob { db, clock, ids, notice }.install(&mut registry);
        let random = Arc::new(SeededRandom::new(7));
        let runner =
            JobRunner::new(shop.test.db.clone(), &shop.desk.queue, random, registry, JobRunnerOptions::default());
        let mut requests = Vec::new();
        for session in [said.session, other.session] {
            ask_for_human(&shop, session).await;
            let open = shop.read(move |tx| human_requests::find_open(tx, session)).await.unwrap();
            let (queue, at) = (queue(&shop), shop.now().plus(Duration::from_secs(900)));
            let look = move |tx: &mut Tx<'_>| unanswered_requests::enqueue_look(tx, &queue, (open.id, None), at);
            shop.test.db.write(shop.tenant, look).await.unwrap();
            requests.push(open.id);
        }
        shop.test.clock.advance(Duration::from_secs(60));
        runner.drain().await.unwrap();
        take(&shop, other.session, kamal).await;
        shop.test.clock.advance(Duration::from_secs(900));
        runner.drain().await.unwrap();
        let mut states = Vec::new();
        for id in requests {
            states.push(shop.read(move |tx| human_requests::find(tx, id)).await.unwrap().state);
        }
        assert_eq!(states, [HumanRequestState::Expired, HumanRequestState::Held], "nobody is taken from whoever came");
        let told = "SELECT count(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'human_request.expired'";
        assert_eq!(shop.read(move |tx| tx.one(told, &[], |row| row.get::<i64>(0))).await, 1);
    }

    async fn two_threads_that_become_one_keep_the_hand_and_the_whispers(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        let other = shop.say("+919812345679", "o1", "hello").await;
        shop.answer(held(&other), "namaste").await;
        take(&shop, other.session, kamal).await;
        write_as(&shop, other.session, kamal, "this is Kamal").await.unwrap();
        whisper(&shop, other.session, kamal, "be kind").await;
        ask_for_human(&shop, said.session).await;
        let (ids, now, from, into) = (shop.test.ids.clone(), shop.now(), other.person, said.person);
        let merge = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<()> {
            persons::merge(tx, from, into)?;
            merge_threads(tx, &ids, (from, into), now)
        };
        shop.test.db.write(shop.tenant, merge).await.unwrap();
        let one = session(&shop, said.session).await;
        assert_eq!((one.hold.map(|hold| hold.by), one.whispers), (Some(kamal), 1));
        let gone = session(&shop, other.session).await;
        assert_eq!((gone.hold, gone.whispers, gone.merged_into), (None, 0, Some(said.session)));
        let id = said.session;
        let told = shop.read(move |tx| whispers::list_unused(tx, id)).await;
        assert_eq!(told.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["be kind"]);
        let open = shop.read(move |tx| human_requests::find_open(tx, id)).await.unwrap();
        assert_eq!((open.state, open.claimed_by), (HumanRequestState::Held, Some(kamal)), "they wait no more");
        let theirs = shop.messages(id).await.into_iter().filter(|one| one.speaker == MessageSpeaker::Colleague(kamal));
        assert_eq!(theirs.map(|one| one.text).collect::<Vec<_>>(), ["this is Kamal"]);
        assert!(write_as(&shop, id, kamal, "still here").await.is_some());
    }

    async fn a_colleagues_words_go_to_the_archive_as_theirs(test: TestDb) {
        let shop = Shop::open(test).await;
        let (said, kamal) = (answered(&shop).await, add_colleague(&shop, "Kamal").await);
        take(&shop, said.session, kamal).await;
        let written = write_as(&shop, said.session, kamal, "this is Kamal").await.unwrap();
        let line = serde_json::to_string(&written).unwrap();
        let read: Message = serde_json::from_str(&line).unwrap();
        assert_eq!(read, written);
        let summary = retention::extract(None, &[written], 500);
        assert_eq!(summary, "A colleague answered: this is Kamal");
        assert!(!summary.contains(&kamal.as_uuid().to_string()));
    }
}
