//! Streams that stay open: what changes in a conversation is told as it changes, on any node, once and in order.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use munshi_conversations::human_requests::NewHumanRequest;
use munshi_conversations::linking::merge_threads;
use munshi_conversations::{human_requests, sessions};
use munshi_identity::keys::KeySubject;
use munshi_identity::{Role, persons};
use munshi_llm::ChatEvent;
use munshi_store::Tx;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_types::{SessionId, Timestamp};
use munshi_web::api::StreamPace;
use serde_json::{Value, json};

use crate::api::support::{Installation, OpenStream, Setup, Told, text_of};
use crate::api::visits::{Browser, FRONT, cookie, own};

const SIGNS: &str = "SELECT COUNT(*) FROM typing_signs WHERE tenant_id = $1";

pub(crate) fn get(path: &str, key: &str, after: Option<&str>) -> Request<Body> {
    let request = Request::get(path).header("authorization", format!("Bearer {key}"));
    let request = match after {
        Some(after) => request.header("last-event-id", after),
        None => request,
    };
    request.body(Body::empty()).unwrap()
}

fn at_page(browser: &Browser, after: Option<&str>) -> Request<Body> {
    let browser = browser.clone();
    let browser = match after {
        Some(after) => browser.with("last-event-id", after),
        None => browser,
    };
    browser.request("GET", &format!("{FRONT}/stream"), None)
}

fn words(thread: &Told) -> Vec<&str> {
    thread.data["messages"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect()
}

/// Somebody known, and their session.
pub(crate) async fn known(house: &Installation, id: &str) -> (Browser, String) {
    let (headers, _) = Browser::default().say(house, "Hello!", id).await;
    let key = house.key(Role::Staff).await;
    let sessions = house.get("/v1/sessions", &key).await.is(200);
    (
        Browser::default().with("cookie", cookie(&headers)),
        sessions["items"][0]["id"].as_str().unwrap().to_owned(),
    )
}

/// A model that says something and then no more.
fn hanging() -> ScriptedTurn {
    let words = ["Well, to begin with. ", "And then "].map(|text| ChatEvent::Text(text.to_owned()));
    ScriptedTurn::events(words).hanging()
}

on_both! {
    async fn a_page_hears_what_another_device_says_and_how_it_is_answered(test: TestDb) {
        let gate = ScriptGate::default();
        let script = [ScriptedTurn::text("Good morning."), ScriptedTurn::text("At nine.").with_gate(&gate)];
        let house = Installation::open(&test, script).await;
        let (phone, _) = known(&house, "1").await;
        let desk = phone.clone();
        let mut page = OpenStream::open(&house, at_page(&phone, None)).await;
        let first = page.next().await.unwrap();
        assert_eq!((first.name.as_str(), words(&first), first.id.as_str()), ("thread", Vec::new(), "2"));
        let (mut said, mut heard) = (Vec::new(), Vec::new());
        let follow = async {
            while said.len() < 2 {
                let told = page.next().await.unwrap();
                if told.name == "thread" {
                    said.extend(words(&told).into_iter().map(str::to_owned));
                    // The page follows the turn from here on.
                    gate.open();
                    continue;
                }
                assert!(told.data["run"].is_string(), "{told:?}");
                heard.push(told);
            }
        };
        let ((_, answer), ()) = tokio::join!(desk.say(&house, "When do you open?", "2"), follow);
        assert_eq!(text_of(&answer), "At nine.");
        assert_eq!(said, ["When do you open?", "At nine."]);
        // The answer is told once and whole, as the turn's own stream tells it, and its end before the thread that has it.
        assert_eq!(text_of(&heard), "At nine.");
        let ends: Vec<&str> = heard.iter().map(|told| told.name.as_str()).filter(|name| *name == "done").collect();
        assert_eq!((ends.len(), heard.last().unwrap().name.as_str()), (1, "done"), "{heard:?}");
        // From behind a message: the rest, and nothing of before.
        let mut back = OpenStream::open(&house, at_page(&phone, Some("3"))).await;
        assert_eq!(words(&back.next().await.unwrap()), ["At nine."]);
        let malformed = house.send(at_page(&phone, Some("nonsense"))).await;
        assert_eq!(malformed.status().as_u16(), 400);
    }

    async fn a_page_that_was_away_when_its_thread_got_other_numbers_reads_it_anew(test: TestDb) {
        let script = ["One.", "Two."].map(ScriptedTurn::text);
        let house = Installation::open(&test, script).await;
        let (gone, before) = known(&house, "1").await;
        test.clock.advance(Duration::from_secs(1));
        let (stays, session) = known(&house, "2").await;
        assert_ne!(before, session);
        let mut open = OpenStream::open(&house, at_page(&stays, None)).await;
        let away = open.next().await.unwrap().id;
        assert_eq!(away, "2");
        merge(&house, &before, &session).await;
        open.next_named("moved").await;
        assert_eq!(open.next().await, None, "that was the last");
        // The joined thread has more messages than the page saw: its number alone would mean something there.
        for (browser, after) in [(&stays, away.as_str()), (&stays, "1"), (&gone, "2")] {
            let mut back = OpenStream::open(&house, at_page(browser, Some(after))).await;
            assert_eq!(back.next().await.unwrap().name, "moved", "{after}");
            assert_eq!(back.next().await, None);
        }
        let (_, thread) = stays.get(&house, FRONT).await;
        assert_eq!((thread["cursor"].as_str(), thread["session"].as_str()), (Some("1.4"), Some(session.as_str())));
        let mut anew = OpenStream::open(&house, at_page(&stays, Some("1.2"))).await;
        assert_eq!(words(&anew.next().await.unwrap()), ["Hello!", "Two."]);
    }

    async fn the_events_of_the_running_turn_come_on_the_pages_stream(test: TestDb) {
        let script = [ScriptedTurn::text("Good morning."), hanging()];
        let house = Installation::open(&test, script).await;
        let (guest, _) = known(&house, "1").await;
        let mut page = OpenStream::open(&house, at_page(&guest, None)).await;
        let body = json!({ "text": "When?", "message_id": own("2") });
        let answer = house.send(guest.request("POST", &format!("{FRONT}/messages"), Some(&body))).await;
        let run = answer.headers()["x-run-id"].to_str().unwrap().to_owned();
        let told = loop {
            let told = page.next().await.unwrap();
            if told.name != "thread" && !told.id.is_empty() {
                break told;
            }
        };
        assert_eq!(told.data["run"], json!(run));
        let (cursor, event) = told.id.split_once(';').unwrap();
        assert_eq!((cursor, event.starts_with(&format!("{run}:"))), ("3", true), "{told:?}");
        // Whoever comes back in the middle of it goes on there.
        let mut back = OpenStream::open(&house, at_page(&guest, Some(&told.id))).await;
        assert_eq!(back.next().await.unwrap().data["running"], json!([run]));
        guest.call(&house, "POST", &format!("{FRONT}/runs/{run}/cancel"), None).await;
        let done = back.next_named("done").await;
        assert_eq!((&done.data["run"], &done.data["state"]), (&json!(run), &json!("halted")));
        let thread = back.next_named("thread").await;
        assert_eq!(thread.data["running"], json!([]));
        page.next_named("done").await;
    }

    async fn a_stranger_is_told_to_come_again_and_hears_nobody_else(test: TestDb) {
        let script = ["One.", "Two.", "Three."].map(ScriptedTurn::text);
        let house = Installation::open(&test, script).await;
        let nobody = house.send(at_page(&Browser::default(), None)).await;
        assert_eq!(nobody.status().as_u16(), 204);
        let (one, _) = known(&house, "1").await;
        let (other, _) = known(&house, "2").await;
        let mut page = OpenStream::open(&house, at_page(&one, Some("0"))).await;
        assert_eq!(words(&page.next().await.unwrap()), ["Hello!", "One."]);
        other.say(&house, "My secret is blue.", "3").await;
        one.call(&house, "POST", &format!("{FRONT}/seen"), Some(json!({ "message": uuid::Uuid::nil() }))).await;
        let (_, mine) = one.get(&house, FRONT).await;
        let last = mine["messages"][1]["id"].clone();
        let (status, ..) = one.call(&house, "POST", &format!("{FRONT}/seen"), Some(json!({ "message": last }))).await;
        assert_eq!(status, 204);
        let thread = page.next().await.unwrap();
        assert_eq!((thread.name.as_str(), &thread.data["seen"]), ("thread", &json!(2)), "{thread:?}");
        assert_eq!(words(&thread), Vec::<&str>::new(), "of the other nothing came");
        assert_eq!(other.get(&house, FRONT).await.1["seen"], 0);
    }

    async fn a_visitor_notes_only_so_often_how_far_they_have_read(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("One."), ScriptedTurn::text("Two.")]).await;
        let (guest, _) = known(&house, "1").await;
        let (_, thread) = guest.get(&house, FRONT).await;
        let last = json!({ "message": thread["messages"][1]["id"] });
        let seen = format!("{FRONT}/seen");
        for _ in 0..120 {
            assert_eq!(guest.call(&house, "POST", &seen, Some(last.clone())).await.0, 204);
        }
        assert_eq!(guest.call(&house, "POST", &seen, Some(last)).await.0, 429);
        // It is no message: those have limits of their own.
        let (_, answer) = guest.say(&house, "When do you open?", "2").await;
        assert_eq!(text_of(&answer), "Two.");
    }

    async fn a_visitor_has_eight_streams_at_most(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("One.")]).await;
        let (guest, _) = known(&house, "1").await;
        let mut open = Vec::new();
        for _ in 0..8 {
            open.push(OpenStream::open(&house, at_page(&guest, None)).await);
        }
        assert_eq!(house.send(at_page(&guest, None)).await.status().as_u16(), 429);
        open.pop();
        assert_eq!(house.send(at_page(&guest, None)).await.status().as_u16(), 200);
    }

    async fn a_session_is_followed_on_any_node_without_a_gap(test: TestDb) {
        let script = ["Good morning.", "At nine."].map(ScriptedTurn::text);
        let house = Installation::open(&test, script).await;
        let (guest, session) = known(&house, "1").await;
        let other = house.again(&test, []).await;
        let key = house.key(Role::Staff).await;
        let path = format!("/v1/sessions/{session}/stream");
        let mut all = OpenStream::open(&other, get(&format!("{path}?after=0"), &key, None)).await;
        let mut rest = OpenStream::open(&other, get(&path, &key, Some("1"))).await;
        let mut news = OpenStream::open(&other, get(&path, &key, None)).await;
        guest.say(&house, "When do you open?", "2").await;
        for (stream, first) in [(&mut all, 1), (&mut rest, 2), (&mut news, 3)] {
            for number in first..=4 {
                let told = stream.next_named("message").await;
                assert_eq!((&told.data["number"], told.id), (&json!(number), number.to_string()));
            }
        }
        let listed = house.get(&format!("/v1/sessions/{session}/messages?limit=1"), &key).await.is(200);
        let mut last = OpenStream::open(&other, get(&path, &key, Some("3"))).await;
        let mut told = last.next_named("message").await.data;
        told.as_object_mut().unwrap().remove("type");
        assert_eq!(told, listed["items"][0], "as it is listed");
        let state = last.next_named("state").await;
        assert_eq!(state.data, json!({ "type": "state", "runs": [], "approvals": [], "held_by": null, "draft": null, "typing": [], "whispers": 0, "unsent": [] }));
    }

    async fn who_may_not_read_a_session_does_not_follow_it(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Good morning.")]).await;
        let (_, session) = known(&house, "1").await;
        let path = format!("/v1/sessions/{session}/stream");
        let foreign = house.key_of(house.other.tenant, Role::Owner).await;
        house.get(&path, &foreign).await.refused(404, "not_found");
        let chat = house.key_with(house.shop.tenant, KeySubject::Role(Role::Staff), Some(&["chat"]), None).await;
        house.get(&path, &chat).await.refused(403, "forbidden");
        house.get("/v1/stream", &chat).await.refused(403, "forbidden");
        let elsewhere = house.key_with(house.shop.tenant, KeySubject::Role(Role::Staff), None, Some(vec![house.shop.binding])).await;
        house.get(&path, &elsewhere).await.refused(404, "not_found");
    }

    async fn a_colleagues_words_are_on_every_stream_and_a_whisper_is_on_none(test: TestDb) {
        let house = Installation::open(&test, ["Good morning.", "Gladly."].map(ScriptedTurn::text)).await;
        let (guest, session) = known(&house, "1").await;
        let asha = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let path = |verb: &str| format!("/v1/sessions/{session}/{verb}");
        let mut page = OpenStream::open(&house, at_page(&guest, None)).await;
        let mut followed = OpenStream::open(&house, get(&path("stream"), &asha, None)).await;
        let whisper = json!({ "text": "She owes us from zanzibar." });
        assert!(house.post(&path("whispers"), &asha, whisper).await.status < 300);
        house.call("POST", &path("take"), &asha, None).await.is(200);
        let (mut told, mut said, mut holders) = (String::new(), Vec::new(), Vec::new());
        house.post(&path("write"), &asha, json!({ "text": "This is Asha." })).await.is(200);
        while !said.contains(&json!(["colleague", "Asha", "This is Asha."])) {
            let thread = page.next_named("thread").await;
            told += &thread.data.to_string();
            holders.push(thread.data["held_by"].clone());
            let messages = thread.data["messages"].as_array().unwrap();
            said.extend(messages.iter().map(|one| json!([one["speaker"], one["name"], one["text"]])));
        }
        assert_eq!(holders.last(), Some(&json!("Asha")));
        let heard = followed.next_named("message").await;
        assert_eq!((&heard.data["text"], &heard.data["speaker"]), (&json!("This is Asha."), &json!("colleague")));
        house.call("POST", &path("give-back"), &asha, None).await.is(200);
        told += &told_until(&mut page, |data| data["held_by"] == json!(null)).await.data.to_string();
        guest.say(&house, "Thank you.", "2").await;
        loop {
            let next = page.next().await.unwrap();
            told += &next.data.to_string();
            if next.data["messages"].as_array().is_some_and(|all| all.iter().any(|one| one["text"] == "Gladly.")) {
                break;
            }
        }
        assert!(!told.contains("zanzibar"), "{told}");
        for text in ["Thank you.", "Gladly."] {
            let heard = followed.next_named("message").await;
            assert_eq!(heard.data["text"], text, "and nothing else is one");
        }
    }

    async fn whoever_has_taken_over_is_shown_typing_for_as_long_as_they_do(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Good morning.")]).await;
        let (guest, session) = known(&house, "1").await;
        let mut page = OpenStream::open(&house, at_page(&guest, None)).await;
        assert_eq!(page.next().await.unwrap().data["typing"], json!([]));
        let path = |verb: &str| format!("/v1/sessions/{session}/{verb}");
        let nobody = house.key(Role::Staff).await;
        house.call("POST", &path("typing"), &nobody, None).await.refused(409, "conflict");
        let asha = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let owner = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.owner), None, None).await;
        let type_as = async |key: &str| assert_eq!(house.call("POST", &path("typing"), key, None).await.status, 204);
        // While the agent answers, whoever looks on or whispers is unseen; and so is who has it in another hand.
        type_as(&asha).await;
        house.call("POST", &path("take"), &asha, None).await.is(200);
        type_as(&owner).await;
        assert_eq!(house.number(house.shop.tenant, SIGNS).await, 0);
        type_as(&asha).await;
        let first = told_until(&mut page, |data| data["typing"][0]["name"] == "Asha").await.data["typing"].clone();
        // Said again too soon it tells nothing, and later that they go on.
        test.clock.advance(Duration::from_secs(2));
        type_as(&asha).await;
        test.clock.advance(Duration::from_secs(2));
        type_as(&asha).await;
        let second = told_until(&mut page, |data| data["typing"] != first).await.data["typing"].clone();
        let until = |typing: &Value| typing[0]["until"].as_str().unwrap().parse::<Timestamp>().unwrap();
        assert_eq!(until(&second).since(until(&first)), Duration::from_secs(4));
        test.clock.advance(Duration::from_secs(7));
        told_until(&mut page, |data| data["typing"] == json!([])).await;
        // The same again a while later is told as well, and what they write ends it.
        type_as(&asha).await;
        told_until(&mut page, |data| data["typing"][0]["name"] == "Asha").await;
        house.post(&path("write"), &asha, json!({ "text": "This is Asha." })).await.is(200);
        let written = told_until(&mut page, |data| data["messages"][0]["text"] == "This is Asha.").await;
        assert_eq!(written.data["typing"], json!([]));
    }

    async fn an_operator_who_has_taken_over_is_shown_typing(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Good morning.")]).await;
        let (guest, session) = known(&house, "1").await;
        let mut page = OpenStream::open(&house, at_page(&guest, None)).await;
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        let (form, path) = (kamal.token().await, format!("/v1/sessions/{session}/typing"));
        let from = [("origin", "http://munshi.example"), ("x-munshi-form", form.as_str())];
        assert_eq!(kamal.send("POST", &path, &from, None).await.status, 204, "nobody is shown yet");
        let desk = format!("/account/desk/{session}");
        kamal.submit(&format!("{desk}/take"), &[]).await.moved(&desk);
        assert_eq!(kamal.send("POST", &path, &from, None).await.status, 204);
        told_until(&mut page, |data| data["typing"][0]["name"] == "kamal").await;
    }

    async fn who_waits_in_the_line_hears_that_it_moves(test: TestDb) {
        let script = ["One.", "Two."].map(ScriptedTurn::text);
        let pace = StreamPace { sweep: Duration::from_millis(100), ..StreamPace::default() };
        let house = Installation::open_with(&test, script, Setup { stream_pace: pace, ..Setup::default() }).await;
        let mut sessions = Vec::new();
        let mut pages = Vec::new();
        for id in ["1", "2"] {
            let (guest, session) = known(&house, id).await;
            ask_for_human(&house, &session).await;
            test.clock.advance(Duration::from_secs(1));
            pages.push(OpenStream::open(&house, at_page(&guest, None)).await);
            sessions.push(session);
        }
        let line = pages[1].next_named("thread").await.data["line"].clone();
        assert_eq!(line["place"], 2, "{line}");
        let asha = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        house.call("POST", &format!("/v1/sessions/{}/take", sessions[0]), &asha, None).await.is(200);
        let first = told_until(&mut pages[0], |data| data["held_by"] == "Asha").await;
        assert_eq!(first.data["line"], json!(null));
        // Nothing of their own session has changed.
        let line = told_until(&mut pages[1], |data| data["line"]["place"] == 1).await;
        assert_eq!(line.name, "thread");
    }

    async fn a_tenants_feed_tells_which_sessions_change(test: TestDb) {
        let script = ["One.", "Two.", "Three."].map(ScriptedTurn::text);
        let house = Installation::open(&test, script).await;
        let key = house.key(Role::Staff).await;
        let foreign = house.key_of(house.other.tenant, Role::Owner).await;
        let mut feed = OpenStream::open(&house, get("/v1/stream", &key, None)).await;
        let mut other = OpenStream::open(&house, get("/v1/stream", &foreign, None)).await;
        test.clock.advance(Duration::from_secs(1));
        let (_, first) = known(&house, "1").await;
        let told = told_until(&mut feed, |data| data["messages"] == 2).await;
        assert_eq!((&told.data["id"], told.name.as_str()), (&json!(first), "session"));
        test.clock.advance(Duration::from_secs(1));
        known(&house, "2").await;
        let second = told_until(&mut feed, |data| data["id"] != json!(first) && data["messages"] == 2).await;
        // What came while nobody listened comes with the last id; some of it again.
        drop(feed);
        let mut back = OpenStream::open(&house, get("/v1/stream", &key, Some(&told.id))).await;
        told_until(&mut back, |data| data["id"] == second.data["id"]).await;
        let silent = tokio::time::timeout(Duration::from_millis(300), other.next()).await;
        assert!(silent.is_err(), "another tenant's is another's");
    }

    async fn a_desk_hears_who_waits_and_what_it_has_not_read(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Good morning.")]).await;
        let (guest, session) = known(&house, "1").await;
        let person = |id| house.key_with(house.shop.tenant, KeySubject::Person(id), None, None);
        let (asha, owner) = (person(house.shop.staff).await, person(house.shop.owner).await);
        let path = |verb: &str| format!("/v1/sessions/{session}/{verb}");
        let shown = async |key: &str| house.get(&format!("/v1/sessions/{session}"), key).await.is(200);
        let before = shown(&asha).await;
        assert_eq!((&before["waiting_since"], &before["unread"]), (&json!(null), &json!(1)));
        house.call("POST", &path("take"), &asha, None).await.is(200);
        let mut feed = OpenStream::open(&house, get("/v1/stream", &asha, None)).await;
        test.clock.advance(Duration::from_secs(1));
        guest.say(&house, "Anybody?", "2").await;
        let since = json!(house.now());
        let told = told_until(&mut feed, |data| data["messages"] == 3).await;
        assert_eq!((&told.data["waiting_since"], &told.data["unread"]), (&since, &json!(2)));
        // What is read is read by them alone, and those who stand for nobody have nothing to read.
        let said = house.get(&path("messages"), &asha).await.is(200);
        let read = json!({ "message": said["items"][0]["id"] });
        test.clock.advance(Duration::from_secs(1));
        assert_eq!(house.call("POST", &path("seen"), &asha, Some(read.clone())).await.status, 204);
        told_until(&mut feed, |data| data["unread"] == 0).await;
        assert_eq!((&shown(&asha).await["unread"], &shown(&owner).await["unread"]), (&json!(0), &json!(2)));
        let role = house.key(Role::Staff).await;
        assert_eq!(shown(&role).await["unread"], json!(null));
        house.call("POST", &path("seen"), &role, Some(read)).await.refused(409, "conflict");
        house.post(&path("write"), &asha, json!({ "text": "This is Asha." })).await.is(200);
        told_until(&mut feed, |data| data["waiting_since"] == json!(null)).await;
        let listed = house.get("/v1/sessions", &asha).await.is(200);
        assert_eq!((&listed["items"][0]["waiting_since"], &listed["items"][0]["unread"]), (&json!(null), &json!(0)));
    }
}

/// Somebody asked for a person of the business.
pub(crate) async fn ask_for_human(house: &Installation, session: &str) {
    let session: SessionId = session.parse().unwrap();
    let new = NewHumanRequest {
        id: house.ids.next(),
        run: None,
        team: Some("counter".to_owned()),
        reason: "wants to speak to somebody".to_owned(),
        is_callback: false,
        callback_to: None,
        note: None,
        now: house.now(),
    };
    let unit = move |tx: &mut Tx<'_>| {
        let session = sessions::find(tx, session)?.unwrap();
        human_requests::add(tx, &session, &new)
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
}

/// Makes the person of one session the person of another, as a proved phone does.
pub(crate) async fn merge(house: &Installation, gone: &str, stays: &str) {
    let (gone, stays): (SessionId, SessionId) = (gone.parse().unwrap(), stays.parse().unwrap());
    let (ids, now) = (house.ids.clone(), house.now());
    let unit = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<()> {
        let from = sessions::find(tx, gone)?.unwrap().person;
        let into = sessions::find(tx, stays)?.unwrap().person;
        persons::merge(tx, from, into)?;
        merge_threads(tx, &ids, (from, into), now)
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
}

/// The first event that fits.
pub(crate) async fn told_until(stream: &mut OpenStream, fits: impl Fn(&Value) -> bool) -> Told {
    loop {
        let told = stream.next().await.expect("the stream goes on");
        if fits(&told.data) {
            return told;
        }
    }
}
