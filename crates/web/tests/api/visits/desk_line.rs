//! What the desk shows beside what is said: who waits, what is asked, what has not left, and what was sent along.

use std::time::Duration;

use axum::body::Body;
use munshi_conversations::human_requests::{self, NewHumanRequest};
use munshi_conversations::outbox::{self, ReplyPlace};
use munshi_conversations::sessions::{self, Session};
use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_identity::persons::seal_by_person;
use munshi_store::{Tx, params};
use munshi_test_support::hostile_files;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::tier::Channel;
use munshi_types::{ActId, ApprovalId, ReplyAddress, SessionId, Timestamp};
use serde_json::json;
use uuid::Uuid;

use super::{list_said, opened, own};
use crate::api::live::{ask_for_human, get, known, told_until};
use crate::api::support::{Installation, OpenStream, Reply};

const PENDING: &str = "SELECT id, act_id FROM approvals WHERE tenant_id = $1 AND state = 'pending'";

const OPENED: &str =
    "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'conversation.opened'";

/// More than the desk shows of one kind.
const MANY: usize = 60;
/// More than were ever looked at for one conversation.
const FLOOD: u64 = 120;

fn build_request(house: &Installation, reason: &str, is_callback: bool) -> NewHumanRequest {
    NewHumanRequest {
        id: house.ids.next(),
        run: None,
        team: None,
        reason: reason.to_owned(),
        is_callback,
        callback_to: None,
        note: None,
        now: house.now(),
    }
}

/// Other conversations of the same visitor, to be called back.
async fn add_callbacks(house: &Installation, session: SessionId) {
    let ids = house.ids.clone();
    let new: Vec<_> = (0..MANY).map(|_| build_request(house, "call me", true)).collect();
    let unit = move |tx: &mut Tx<'_>| -> munshi_store::Result<()> {
        let known = sessions::find(tx, session)?.unwrap();
        for request in &new {
            human_requests::add(tx, &Session { id: ids.next(), ..known.clone() }, request)?;
        }
        Ok(())
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
}

/// The question that is pending, asked again in conversations that nobody looks at, each later than the one before.
async fn ask_elsewhere(house: &Installation) {
    let (ids, now) = (house.ids.clone(), house.now());
    let act = "INSERT INTO acts (tenant_id, id, run_id, binding_id, person_id, session_id, tool, connector, effect, arguments, proposal,
                 digest, state, attempt, began_at)
               SELECT tenant_id, $2, run_id, binding_id, person_id, $4, tool, connector, effect, arguments, proposal,
                 digest, state, attempt, began_at FROM acts WHERE tenant_id = $1 AND id = $3";
    let asked = "INSERT INTO approvals (tenant_id, id, act_id, kind, tool, scope, session_id, asked_by, words, question, digest,
                   state, covers, asked_at, expires_at)
                 SELECT tenant_id, $2, $3, kind, tool, scope, $4, asked_by, words, question, digest, state, covers, $6,
                   expires_at FROM approvals WHERE tenant_id = $1 AND id = $5";
    let unit = move |tx: &mut Tx<'_>| -> munshi_store::Result<()> {
        let (like, made): (ApprovalId, ActId) =
            tx.one(PENDING, params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for number in 1..=FLOOD {
            let (id, copy): (ApprovalId, ActId) = (ids.next(), ids.next());
            let (elsewhere, later) = (Uuid::from_u128(number.into()), now.plus(Duration::from_secs(number)));
            tx.execute(act, params![copy, made, elsewhere])?;
            tx.execute(asked, params![id, copy, elsewhere, like, later])?;
        }
        Ok(())
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
}

/// The last message leaves on a channel, and not sooner than at a time.
async fn leave_at(house: &Installation, time: Timestamp) {
    let (queue, now) = (house.queue.clone(), house.now());
    let unit = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<()> {
        let message = list_said(tx)?.pop().unwrap();
        let to = ReplyAddress::new(Channel::Whatsapp, "+919812345678".to_owned());
        let person = sessions::find(tx, message.session)?.unwrap().person;
        let by = seal_by_person(tx, person)?;
        outbox::enqueue(tx, &queue, ReplyPlace::of(&message, by), &message.to_outbound(&to), now)?;
        tx.execute(
            "UPDATE outbox SET not_before = $3, waits_for = 'time' WHERE tenant_id = $1 AND message_id = $2",
            params![message.id, time],
        )?;
        Ok(())
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
}

/// How the delivery of what was written ended.
async fn set_delivery(house: &Installation, session: &str, state: &'static str) {
    let (session, now): (SessionId, _) = (session.parse().unwrap(), house.now());
    let unit = move |tx: &mut Tx<'_>| {
        tx.execute("UPDATE outbox SET state = $2, not_before = NULL WHERE tenant_id = $1", params![state])?;
        sessions::touch(tx, session, now)
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
}

on_both! {
    async fn who_waits_is_shown_however_many_are_to_be_called_back(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("Hello.")]).await;
        let (_, session) = known(&house, "1").await;
        let session: SessionId = session.parse().unwrap();
        add_callbacks(&house, session).await;
        test.clock.advance(Duration::from_secs(60));
        let request = build_request(&house, "My order is broken.", false);
        let unit = move |tx: &mut Tx<'_>| {
            let session = sessions::find(tx, session)?.unwrap();
            human_requests::add(tx, &session, &request)
        };
        house.db.write(house.shop.tenant, unit).await.unwrap();
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        let desk = kamal.get("/account/desk").await;
        let page = desk.says(200, "My order is broken.");
        let (waits, calls) = (page.find("Waiting for a person").unwrap(), page.find("To be called back").unwrap());
        let shown = page.find("My order is broken.").unwrap();
        assert!(waits < shown && shown < calls, "whoever waits comes first");
        // The rest of those who are called back is on the next page, and they alone.
        let next = desk.between("href=\"/account/desk?", "\"").replace("&#38;", "&");
        assert!(next.starts_with("state=callback&after="), "{next}");
        let rest = kamal.get(&format!("/account/desk?{next}")).await.says(200, "To be called back");
        assert!(!rest.contains("My order is broken.") && !rest.contains("Show more"), "{rest}");
        kamal.get("/account/desk?state=nonsense&after=x").await.says(200, "My order is broken.");
    }

    async fn a_whisper_and_a_place_in_the_line_are_told_though_nothing_is_said(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("Hello.")]).await;
        let (_, session) = known(&house, "1").await;
        let asha = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let path = |verb: &str| format!("/v1/sessions/{session}/{verb}");
        let mut desk = OpenStream::open(&house, get(&path("stream"), &asha, None)).await;
        assert_eq!(desk.next().await.unwrap().data["whispers"], 0);
        let whisper = json!({ "text": "She owes us from zanzibar." });
        assert!(house.post(&path("whispers"), &asha, whisper).await.status < 300);
        let told = told_until(&mut desk, |data| data["whispers"] == 1).await;
        assert!(!told.data.to_string().contains("zanzibar"), "{told:?}");
        let mut feed = OpenStream::open(&house, get("/v1/stream", &asha, None)).await;
        assert_eq!(told_until(&mut feed, |data| data["id"] == json!(session)).await.data["line"], json!(null));
        ask_for_human(&house, &session).await;
        let (id, now) = (session.parse::<SessionId>().unwrap(), house.now().plus(Duration::from_secs(1)));
        house.db.write(house.shop.tenant, move |tx: &mut Tx<'_>| sessions::touch(tx, id, now)).await.unwrap();
        let waits = told_until(&mut feed, |data| data["line"] == "waiting").await;
        assert_eq!((&waits.data["id"], &waits.data["messages"]), (&json!(session), &json!(2)), "nobody said anything");
    }

    async fn a_colleague_sees_that_their_words_wait_or_were_refused(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("Hello.")]).await;
        let (_, session) = known(&house, "1").await;
        let desk = format!("/account/desk/{session}");
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        kamal.submit(&format!("{desk}/take"), &[]).await.moved(&desk);
        kamal.submit(&format!("{desk}/write"), &[("text", "Good evening.")]).await.moved(&desk);
        let later = house.now().plus(Duration::from_secs(3600));
        leave_at(&house, later).await;
        kamal.get(&desk).await.says(200, "small delivery\">Will be sent: ");
        let key = house.key(Role::Staff).await;
        let mut stream = OpenStream::open(&house, get(&format!("/v1/sessions/{session}/stream"), &key, Some("2"))).await;
        let listed = house.get(&format!("/v1/sessions/{session}/messages?limit=1"), &key).await.is(200);
        let told = stream.next_named("message").await.data;
        assert_eq!(told["delivery"], listed["items"][0]["delivery"], "as it is listed");
        assert_eq!((&told["delivery"]["state"], &told["delivery"]["not_before"]), (&json!("waiting"), &json!(later)));
        let state = stream.next_named("state").await.data;
        assert_eq!((&state["unsent"][0]["message"], &state["unsent"][0]["state"]), (&told["id"], &json!("waiting")));
        set_delivery(&house, &session, "failed").await;
        let refused = told_until(&mut stream, |data| data["unsent"][0]["state"] == "failed").await;
        assert_eq!(refused.data["unsent"].as_array().unwrap().len(), 1);
        kamal.get(&desk).await.says(200, "small delivery\">Could not be sent.");
        set_delivery(&house, &session, "sent").await;
        told_until(&mut stream, |data| data["unsent"] == json!([])).await;
        assert!(!kamal.get(&desk).await.says(200, "Good evening.").contains("class=\"quiet small delivery"));
    }

    async fn a_picture_of_a_visitor_is_shown_with_an_address_that_ends(test: TestDb) {
        let house = opened(&test, ["Hello.", "Nice."].map(ScriptedTurn::text)).await;
        let (guest, session) = known(&house, "1").await;
        let sent = house.send(guest.upload("bill.png", Body::from(hostile_files::png()))).await;
        let file = Reply::of(sent).await.is(201);
        let body = json!({ "text": "look", "message_id": own("2"), "attachments": [file["id"]] });
        assert_eq!(guest.tries(&house, &body).await.0, 200);
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        let page = kamal.get(&format!("/account/desk/{session}")).await;
        assert!(page.says(200, "alt=\"bill.png\"").contains(&format!("data-file=\"{}\"", file["id"].as_str().unwrap())));
        let (picture, download) = (page.between("<img src=\"", "\""), page.between("class=\"file\" href=\"", "\""));
        let shown = house.get(&picture, "").await;
        assert_eq!((shown.status, shown.header("content-type")), (200, "image/jpeg"));
        assert_eq!(house.get(&download, "").await.body, hostile_files::png());
        test.clock.advance(Duration::from_secs(3600));
        house.get(&download, "").await.refused(404, "not_found");
    }

    async fn whoever_looks_at_the_page_again_opens_it_once(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("Hello.")]).await;
        let (_, session) = known(&house, "1").await;
        let path = format!("/v1/sessions/{session}/stream");
        let key = house.key(Role::Staff).await;
        for _ in 0..3 {
            OpenStream::open(&house, get(&path, &key, Some("2"))).await;
        }
        assert_eq!(house.number(house.shop.tenant, OPENED).await, 1);
        OpenStream::open(&house, get(&path, &key, None)).await;
        assert_eq!(house.number(house.shop.tenant, OPENED).await, 2, "that is a new look");
        OpenStream::open(&house, get(&path, &house.key(Role::Staff).await, Some("2"))).await;
        assert_eq!(house.number(house.shop.tenant, OPENED).await, 3, "somebody else");
        test.clock.advance(Duration::from_secs(11 * 60));
        OpenStream::open(&house, get(&path, &key, Some("2"))).await;
        assert_eq!(house.number(house.shop.tenant, OPENED).await, 4, "a good while later");
    }

    async fn what_is_asked_in_a_conversation_is_shown_however_much_is_asked_elsewhere(test: TestDb) {
        let script = [ScriptedTurn::call("wipe", &json!({ "text": "the old list" })), ScriptedTurn::text("Done.")];
        let house = opened(&test, script).await;
        let owner = house.key(Role::Owner).await;
        let ask = json!({ "binding": "counter", "text": "wipe it", "person": house.shop.staff });
        house.post("/v1/chat", &owner, ask).await.is(200);
        let session = house.db.read(house.shop.tenant, list_said).await.unwrap()[0].session;
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        let desk = format!("/account/desk/{session}");
        kamal.get(&desk).await.says(200, "id=\"question-");
        ask_elsewhere(&house).await;
        let page = kamal.get(&desk).await.says(200, "id=\"question-");
        assert_eq!(page.matches("id=\"question-").count(), 1, "{page}");
    }
}
