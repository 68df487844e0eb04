//! Questions on a page's stream: who has seen one, and that it goes when it is answered, wherever that is.

use std::time::Duration;

use munshi_identity::Role;
use munshi_llm::ChatEvent;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, wait_until};
use serde_json::{Value, json};

use super::{Browser, opened, own, secret};
use crate::api::support::{Installation, OpenStream, PASSWORD, Told, text_of};

const COUNTER: &str = "/visit/shop-counter";
/// Sooner than anybody looks by themselves.
const SOON: Duration = Duration::from_secs(8);

/// A business whose model asks before it wipes, once the gate is open; and its owner in two browsers.
async fn open(test: &TestDb) -> (Installation, ScriptGate, [Browser; 2]) {
    let gate = ScriptGate::default();
    let script = [
        ScriptedTurn::text("Good morning."),
        ScriptedTurn::call("wipe", &json!({ "text": "all" })).with_gate(&gate),
        ScriptedTurn::text("All right."),
    ];
    let house = opened(test, script).await;
    let asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
    let mut elsewhere = house.browser();
    elsewhere.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
    let two = [&asha, &elsewhere].map(|signed_in| {
        let cookie = format!("munshi_sign_in={}", signed_in.cookies["munshi_sign_in"]);
        Browser::default().with("cookie", cookie).with("sec-fetch-site", "same-origin")
    });
    two[0].say_at(&house, COUNTER, "Good morning!", "1").await;
    (house, gate, two)
}

async fn follow(house: &Installation, browser: &Browser) -> OpenStream {
    let mut stream =
        OpenStream::open(house, browser.request("GET", &format!("{COUNTER}/stream"), None)).await;
    stream.next_named("thread").await;
    stream
}

/// Asks for it, and hangs up before anything is answered. Gives the run.
async fn ask_and_hang_up(house: &Installation, browser: &Browser) -> Value {
    let body = json!({ "text": "wipe it", "message_id": own("2"), "secret": secret("2") });
    let answer = house.send(browser.request("POST", &format!("{COUNTER}/messages"), Some(&body))).await;
    json!(answer.headers()["x-run-id"].to_str().unwrap())
}

/// The thread as it is told once something holds of it.
async fn told_until(stream: &mut OpenStream, holds: impl Fn(&Value) -> bool) -> Told {
    loop {
        let told = stream.next_named("thread").await;
        if holds(&told.data) {
            return told;
        }
    }
}

fn wiped(house: &Installation) -> usize {
    house.world.wiped.lock().unwrap().len()
}

on_both! {
    async fn who_hears_the_question_on_their_own_stream_may_answer_it(test: TestDb) {
        let (house, gate, [one, _]) = open(&test).await;
        let mut page = follow(&house, &one).await;
        let run = ask_and_hang_up(&house, &one).await;
        told_until(&mut page, |thread| thread["running"] == json!([run])).await;
        gate.open();
        let done = page.next_named("done").await;
        assert_eq!((&done.data["run"], &done.data["state"]), (&run, &json!("waiting_approval")));
        one.say_at(&house, COUNTER, "yes", "3").await;
        assert_eq!(wiped(&house), 1);
    }

    async fn a_question_on_another_browsers_stream_is_not_answered_there_by_a_bare_yes(test: TestDb) {
        let (house, gate, [one, other]) = open(&test).await;
        let mut page = follow(&house, &other).await;
        let run = ask_and_hang_up(&house, &one).await;
        told_until(&mut page, |thread| thread["running"] == json!([run])).await;
        gate.open();
        page.next_named("done").await;
        let (_, told) = other.say_at(&house, COUNTER, "yes", "3").await;
        assert!(text_of(&told).starts_with("All right."), "{told:?}");
        assert_eq!(wiped(&house), 0);
    }

    async fn a_stream_that_broke_off_before_the_question_has_shown_nothing(test: TestDb) {
        let (house, gate, [one, _]) = open(&test).await;
        let mut page = follow(&house, &one).await;
        let run = ask_and_hang_up(&house, &one).await;
        let thread = told_until(&mut page, |thread| thread["running"] == json!([run])).await;
        drop(page);
        let key = house.key(Role::Staff).await;
        let path = format!("/v1/sessions/{}/stream", thread.data["session"].as_str().unwrap());
        let session = axum::http::Request::get(path).header("authorization", format!("Bearer {key}"));
        let mut session = OpenStream::open(&house, session.body(axum::body::Body::empty()).unwrap()).await;
        gate.open();
        while session.next_named("state").await.data["runs"] != json!([{ "id": run, "state": "waiting_approval" }]) {}
        let (_, told) = one.say_at(&house, COUNTER, "yes", "3").await;
        assert!(text_of(&told).starts_with("All right."), "{told:?}");
        assert_eq!(wiped(&house), 0);
    }

    async fn a_turn_that_goes_on_before_its_page_has_looked_again_is_heard_there(test: TestDb) {
        let (gate, answered) = (ScriptGate::default(), ScriptGate::default());
        let script = [
            ScriptedTurn::text("Good morning."),
            ScriptedTurn::call("wipe", &json!({ "text": "all" })).with_gate(&gate),
            ScriptedTurn::text("It is gone.").with_gate(&answered),
        ];
        let house = opened(&test, script).await;
        let asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let cookie = format!("munshi_sign_in={}", asha.cookies["munshi_sign_in"]);
        let owner = Browser::default().with("cookie", cookie).with("sec-fetch-site", "same-origin");
        owner.say_at(&house, COUNTER, "Good morning!", "1").await;
        let mut page = follow(&house, &owner).await;
        let run = ask_and_hang_up(&house, &owner).await;
        told_until(&mut page, |thread| thread["running"] == json!([run])).await;
        gate.open();
        // Nothing is read behind this until the turn is under way again.
        assert_eq!(page.next_named("done").await.data["state"], "waiting_approval");
        let (_, thread) = owner.get(&house, COUNTER).await;
        let asked = thread["approvals"][0].clone();
        let grant = format!("{COUNTER}/approvals/{}/grant", asked["id"].as_str().unwrap());
        let (status, said, _) = owner.call(&house, "POST", &grant, Some(json!({ "digest": asked["digest"] }))).await;
        assert_eq!((status, &said["run"]), (200, &run));
        wait_until(async || owner.get(&house, COUNTER).await.1["running"] == json!([run])).await;
        told_until(&mut page, |thread| thread["running"] == json!([run])).await;
        answered.open();
        let mut heard = Vec::new();
        while heard.last().is_none_or(|told: &Told| told.name != "done") {
            heard.push(page.next().await.unwrap());
        }
        assert!(text_of(&heard).contains("It is gone."), "{heard:?}");
        assert!(heard.iter().all(|told| told.name != "reset"), "{heard:?}");
    }

    async fn a_question_that_is_answered_elsewhere_goes_from_every_page(test: TestDb) {
        let script = [
            ScriptedTurn::text("Good morning."),
            ScriptedTurn::call("wipe", &json!({ "text": "all" })),
            ScriptedTurn::events([ChatEvent::Text("It is ".to_owned())]).hanging(),
        ];
        let house = opened(&test, script).await;
        let asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let cookie = format!("munshi_sign_in={}", asha.cookies["munshi_sign_in"]);
        let guest = Browser::default().with("cookie", cookie).with("sec-fetch-site", "same-origin");
        guest.say_at(&house, COUNTER, "Good morning!", "1").await;
        let (_, told) = guest.say_at(&house, COUNTER, "wipe it", "2").await;
        assert_eq!(told.last().unwrap().data["state"], "waiting_approval");
        let (_, thread) = guest.get(&house, COUNTER).await;
        let asked = thread["approvals"][0].clone();
        let other = house.again(&test, []).await;
        let (mut here, mut there) = (follow(&house, &guest).await, follow(&other, &guest).await);
        test.clock.advance(Duration::from_secs(1));
        let grant = format!("{COUNTER}/approvals/{}/grant", asked["id"].as_str().unwrap());
        let (status, answered, _) =
            guest.call(&house, "POST", &grant, Some(json!({ "digest": asked["digest"] }))).await;
        assert_eq!(status, 200, "{answered}");
        // Though the turn that goes on says nothing for long.
        let gone = told_until(&mut there, |thread| thread["approvals"] == json!([]));
        tokio::time::timeout(SOON, gone).await.expect("on the other node");
        let goes_on = told_until(&mut here, |thread| thread["running"] == json!([answered["run"]]));
        tokio::time::timeout(SOON, goes_on).await.expect("the turn is under way again");
        let cancel = format!("{COUNTER}/runs/{}/cancel", answered["run"].as_str().unwrap());
        guest.call(&house, "POST", &cancel, None).await;
        told_until(&mut here, |thread| thread["running"] == json!([])).await;
    }
}
