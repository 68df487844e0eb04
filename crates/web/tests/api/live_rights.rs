//! Whoever loses the right to a stream hears no more of it, and a server that stops says so.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use munshi_identity::Role;
use munshi_identity::operators::{self, OPERATORS, roles};
use munshi_store::PlatformTx;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, administer_platform};
use munshi_web::api::StreamPace;
use serde_json::json;

use crate::api::support::{Browser, Installation, OpenStream, PASSWORD, Setup, Told};
use crate::api::visits::{self, FRONT, cookie};

/// How often it is looked again here.
const SOON: Duration = Duration::from_millis(50);

/// A business that looks again often, and a session of somebody.
async fn open(test: &TestDb) -> (Installation, visits::Browser, String) {
    let script = ["One.", "Two."].map(ScriptedTurn::text);
    let setup =
        Setup { stream_pace: StreamPace { recheck: SOON, ..StreamPace::default() }, ..Setup::default() };
    let house = Installation::open_with(test, script, setup).await;
    let (headers, _) = visits::Browser::default().say(&house, "Hello!", "1").await;
    let guest = visits::Browser::default().with("cookie", cookie(&headers));
    let key = house.key(Role::Staff).await;
    let sessions = house.get("/v1/sessions", &key).await.is(200);
    let session = sessions["items"][0]["id"].as_str().unwrap().to_owned();
    (house, guest, session)
}

fn by_key(path: &str, key: &str) -> Request<Body> {
    Request::get(path).header("authorization", format!("Bearer {key}")).body(Body::empty()).unwrap()
}

fn signed_in(path: &str, browser: &Browser<'_>) -> Request<Body> {
    let pairs = browser.cookies.iter().map(|(name, value)| format!("{name}={value}"));
    let cookies = pairs.collect::<Vec<_>>().join("; ");
    Request::get(path).header("host", "munshi.example").header("cookie", cookies).body(Body::empty()).unwrap()
}

/// The error that a stream ends with; what comes before it is left out.
async fn end_of(stream: &mut OpenStream) -> Told {
    let last = stream.next_named("error").await;
    assert_eq!(stream.next().await, None, "that was the last");
    last
}

on_both! {
    async fn a_revoked_key_follows_nothing_any_longer(test: TestDb) {
        let (house, _, session) = open(&test).await;
        let owner = house.key(Role::Owner).await;
        let new = json!({ "name": "till", "speaks_as": "person", "role": "staff" });
        let made = house.post("/v1/keys", &owner, new).await.is(201);
        let (key, id) = (made["text"].as_str().unwrap(), made["id"].as_str().unwrap());
        let path = format!("/v1/sessions/{session}/stream");
        let mut followed = OpenStream::open(&house, by_key(&path, key)).await;
        let mut feed = OpenStream::open(&house, by_key("/v1/stream", key)).await;
        followed.next_named("state").await;
        // It goes on while the key is good.
        let more = tokio::time::timeout(SOON * 4, followed.next()).await;
        assert!(more.is_err(), "{more:?}");
        house.call("POST", &format!("/v1/keys/{id}/revoke"), &owner, None).await.is(200);
        for stream in [&mut followed, &mut feed] {
            let last = end_of(stream).await;
            assert_eq!((&last.data["code"], &last.data["retryable"]), (&json!("unauthorized"), &json!(false)));
        }
    }

    async fn who_opens_another_workspace_follows_nothing_of_the_one_before(test: TestDb) {
        let (house, guest, session) = open(&test).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        house.vouch("asha@shop.example").await;
        let (other, now) = (house.other.tenant, house.now());
        let grant = move |tx: &mut PlatformTx<'_>| -> Result<(), munshi_identity::Error> {
            let asha = operators::find_by_email(tx, "asha@shop.example")?.unwrap();
            administer_platform(tx, |tx| roles::grant(tx, asha.id, other, Role::Owner, now))?;
            Ok(())
        };
        house.db.platform(OPERATORS).write(grant).await.unwrap();
        let mut asha = house.browser();
        asha.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
        asha.submit("/account/workspace", &[("workspace", "shop")]).await.moved("/account");
        let path = format!("/v1/sessions/{session}/stream");
        let mut followed = OpenStream::open(&house, signed_in(&path, &asha)).await;
        let mut feed = OpenStream::open(&house, signed_in("/v1/stream", &asha)).await;
        followed.next_named("state").await;
        asha.submit("/account/workspace", &[("workspace", "other")]).await.moved("/account");
        for stream in [&mut followed, &mut feed] {
            assert_eq!(end_of(stream).await.data["code"], "unauthorized");
        }
        guest.say(&house, "My secret is blue.", "2").await;
        let mut again = OpenStream::open(&house, signed_in("/v1/stream", &asha)).await;
        let silent = tokio::time::timeout(SOON * 4, again.next()).await;
        assert!(silent.is_err(), "of the other workspace nothing has changed: {silent:?}");
    }

    async fn a_page_whose_visitor_has_signed_out_hears_nothing_more(test: TestDb) {
        let (house, ..) = open(&test).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let cookie = format!("munshi_sign_in={}", asha.cookies["munshi_sign_in"]);
        let page = visits::Browser::default().with("cookie", cookie).with("sec-fetch-site", "same-origin");
        page.say(&house, "Good morning!", "2").await;
        let mut stream = OpenStream::open(&house, page.request("GET", &format!("{FRONT}/stream"), None)).await;
        stream.next_named("thread").await;
        asha.submit("/account/sign-out", &[]).await.moved("/account/sign-in");
        let last = end_of(&mut stream).await;
        assert_eq!((&last.data["code"], &last.data["retryable"]), (&json!("unauthorized"), &json!(false)));
    }

    async fn a_server_that_stops_says_that_it_comes_back(test: TestDb) {
        let (house, guest, session) = open(&test).await;
        let key = house.key(Role::Staff).await;
        let page = guest.request("GET", &format!("{FRONT}/stream"), None);
        let mut streams = [
            OpenStream::open(&house, page).await,
            OpenStream::open(&house, by_key(&format!("/v1/sessions/{session}/stream"), &key)).await,
            OpenStream::open(&house, by_key("/v1/stream", &key)).await,
        ];
        streams[0].next_named("thread").await;
        house.app.shutdown_token().cancel();
        for stream in &mut streams {
            let last = end_of(stream).await;
            assert_eq!((&last.data["code"], &last.data["retryable"]), (&json!("restarting"), &json!(true)));
        }
    }
}
