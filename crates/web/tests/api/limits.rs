//! Limits, before any model is asked.

use munshi_identity::Role;
use munshi_safety::budget::{BudgetSettings as Budgets, UsagePlan};
use munshi_test_support::models::ScriptedTurn;
use munshi_types::Clock;
use serde_json::json;

use crate::api::mcp::call;
use crate::api::openai::{asking, request, staff, user};
use crate::api::support::{Installation, Setup};
use crate::api::visits::{Browser, cookie, own, secret};

on_both! {
    async fn a_visitor_has_forty_messages_and_then_a_rest(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 60)).await;
        let key = house.key(Role::Staff).await;
        let say = json!({ "binding": "counter", "text": "hi", "person": { "visitor": "0123456789abcdef" } });
        let mut taken = 0;
        let refused = loop {
            test.clock.advance(std::time::Duration::from_secs(10));
            let reply = house.post("/v1/chat", &key, say.clone()).await;
            if reply.status != 200 {
                break reply;
            }
            taken += 1;
        };
        // The first made them somebody; then forty more.
        assert_eq!(taken, 41);
        assert!(refused.refused(429, "too_many_requests").contains("without one"));
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert_eq!(wait, 15 * 60 - 10);
        assert_eq!(house.model.remaining(), 60 - 41, "no model was asked");
        test.clock.advance(std::time::Duration::from_secs(wait));
        house.post("/v1/chat", &key, say).await.is(200);
    }

    async fn a_person_has_a_hundred_a_minute_and_a_free_tenant_five_hundred_an_hour(test: TestDb) {
        let budgets = Budgets { plan: UsagePlan::Free, ..Budgets::default() };
        let house = Installation::open_with(&test, [], Setup { budgets, ..Setup::default() }).await;
        let key = house.key(Role::Staff).await;
        // What is refused at the door costs no model and still counts.
        let say = |person: serde_json::Value| json!({ "binding": "counter", "text": "aadhaar 2345 6789 0124", "person": person });
        for _ in 0..100 {
            house.post("/v1/chat", &key, say(json!(house.shop.staff))).await.is(200);
        }
        let refused = house.post("/v1/chat", &key, say(json!(house.shop.staff))).await;
        assert!(refused.refused(429, "too_many_requests").contains("from this person: the limit is 100 a minute"));
        assert_eq!(refused.header("retry-after"), "1");
        // 101 were counted for the tenant so far.
        for n in 101..500 {
            test.clock.advance(std::time::Duration::from_millis(100));
            let handle = json!({ "handle": format!("somebody-{}", n % 90) });
            assert_eq!(house.post("/v1/chat", &key, say(handle)).await.status, 200, "{n}");
        }
        let start = test.clock.now();
        let mut more = 0;
        let refused = loop {
            let reply = house.post("/v1/chat", &key, say(json!({ "handle": "another" }))).await;
            if reply.status != 200 {
                break reply;
            }
            more += 1;
        };
        assert!(more <= 6, "what came back in forty seconds, and no more: {more}");
        assert!(refused.refused(429, "too_many_requests").contains("500 an hour"));
        assert_eq!(test.clock.now(), start);
    }

    async fn a_message_sent_again_is_answered_past_a_limit_on_every_surface(test: TestDb) {
        let house = Installation::open(&test, ["One.", "Two.", "Three."].map(ScriptedTurn::text)).await;
        let key = staff(&house).await;
        let chat = |id: &str| json!({ "binding": "counter", "text": "hi", "message_id": id });
        let completion = |id: &str| request(&key, &[("idempotency-key", id)], &asking(json!([user("hi")])));
        let tool = |id: &str| json!({ "message": "hi", "message_id": id });
        let first = (
            house.post("/v1/chat", &key, chat("chat-1")).await.is(200)["run"].clone(),
            house.send(completion("completion-1")).await.headers()["x-run-id"].clone(),
            call(&house, &key, "ask_counter", tool("tool-1")).await["structuredContent"]["run"].clone(),
        );
        for _ in 3..100 {
            let refused_at_the_door = json!({ "binding": "counter", "text": "aadhaar 2345 6789 0124" });
            house.post("/v1/chat", &key, refused_at_the_door).await.is(200);
        }
        house.post("/v1/chat", &key, chat("chat-2")).await.refused(429, "too_many_requests");
        assert_eq!(house.send(completion("completion-2")).await.status().as_u16(), 429);
        assert_eq!(call(&house, &key, "ask_counter", tool("tool-2")).await["isError"], true);
        let again = (
            house.post("/v1/chat", &key, chat("chat-1")).await.is(200)["run"].clone(),
            house.send(completion("completion-1")).await.headers()["x-run-id"].clone(),
            call(&house, &key, "ask_counter", tool("tool-1")).await["structuredContent"]["run"].clone(),
        );
        assert_eq!(first, again);
        assert_eq!(house.model.remaining(), 0, "no model was asked twice");
    }

    async fn a_visitor_is_answered_again_past_a_limit_and_not_without_end(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 4)).await;
        let (here, there) = (Browser::from("203.0.113.7:5000"), Browser::from("203.0.113.8:5000"));
        let hello = |id: &str| json!({ "text": "hello", "message_id": own(id) });
        let guest = here.clone().with("cookie", cookie(&here.say(&house, "hello", "n1").await.0));
        let (status, _, taken) = guest.tries(&house, &hello("n2")).await;
        assert_eq!((status, guest.tries(&house, &hello("n3")).await.0), (200, 200));
        assert_eq!(guest.tries(&house, &hello("n4")).await.0, 428, "a new one takes work");
        // Who lost the answer to their first message has nothing but what the token was made of.
        let first = json!({ "text": "hello", "message_id": own("n1"), "secret": secret("n1") });
        let (status, _, lost) = here.tries(&house, &first).await;
        assert_eq!((status, lost.contains_key("set-cookie")), (200, true));
        let unproved = json!({ "text": "hello", "message_id": own("n1"), "secret": secret("n2") });
        assert_eq!(here.tries(&house, &unproved).await.0, 428);
        // An id that somebody else's message had is no message of theirs.
        let stranger = here.with("cookie", cookie(&there.say(&house, "hello", "n5").await.0));
        assert_eq!(stranger.tries(&house, &hello("n2")).await.0, 428);
        // These four were looked for as well: 16 of 20 a minute are left.
        for at in 0..16 {
            let (status, _, again) = guest.tries(&house, &hello("n2")).await;
            assert_eq!((status, again.get("x-run-id")), (200, taken.get("x-run-id")), "{at}");
        }
        assert_eq!(guest.tries(&house, &hello("n2")).await.0, 429);
        test.clock.advance(std::time::Duration::from_secs(60));
        assert_eq!(guest.tries(&house, &hello("n2")).await.0, 200);
        assert_eq!(house.model.requests().len(), 4, "no model was asked twice");
    }

    async fn a_key_has_six_hundred_a_minute(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (key, another) = (house.key(Role::Viewer).await, house.key(Role::Viewer).await);
        for _ in 0..600 {
            assert_eq!(house.get("/v1/usage", &key).await.status, 200);
        }
        assert!(house.get("/v1/usage", &key).await.refused(429, "too_many_requests").contains("600 a minute"));
        house.get("/v1/usage", &another).await.is(200);
        // Nor does a refused one open anything.
        let say = json!({ "binding": "counter", "text": "hi" });
        house.post("/v1/chat", &key, say).await.refused(429, "too_many_requests");
    }

    async fn strangers_are_slowed_down_and_keys_beside_them_are_not(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Viewer).await;
        for _ in 0..20 {
            house.get("/v1/runs", "mk_wrong").await.refused(401, "unauthenticated");
        }
        house.get("/v1/runs", "mk_wrong").await.refused(429, "too_many_requests");
        house.get("/v1/runs", "").await.refused(429, "too_many_requests");
        house.get("/v1/runs", &key).await.is(200);
    }
}
