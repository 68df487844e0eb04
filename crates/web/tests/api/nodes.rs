//! Two nodes on one database: whoever is counted is counted once for both.

use munshi_identity::Role;
use munshi_test_support::models::ScriptedTurn;
use serde_json::json;

use crate::api::support::Installation;
use crate::api::visits::{Browser, FRONT, cookie, own};

on_both! {
    async fn a_persons_hundred_a_minute_are_a_hundred_on_all_nodes(test: TestDb) {
        let one = Installation::open(&test, []).await;
        let other = one.again(&test, []).await;
        let key = one.key(Role::Staff).await;
        // What is refused at the door costs no model and still counts.
        let say = json!({ "binding": "counter", "text": "aadhaar 2345 6789 0124", "person": one.shop.staff });
        for at in 0..100 {
            let node = if at % 2 == 0 { &one } else { &other };
            node.post("/v1/chat", &key, say.clone()).await.is(200);
        }
        for node in [&one, &other] {
            let refused = node.post("/v1/chat", &key, say.clone()).await;
            assert!(refused.refused(429, "too_many_requests").contains("from this person: the limit is 100 a minute"));
            assert_eq!(refused.header("retry-after"), "1");
        }
    }

    async fn a_visitor_who_goes_from_node_to_node_is_one(test: TestDb) {
        let one = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 30)).await;
        let other = one.again(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 30)).await;
        let hello = |id: &str| json!({ "text": "hello", "message_id": own(id) });
        let new = Browser::from("203.0.113.7:5000");
        // Three of an address as somebody new are free; the third is the second on its node.
        for (node, id) in [(&one, "n1"), (&other, "n2"), (&other, "n3")] {
            assert_eq!(new.tries(node, &hello(id)).await.0, 200, "{id}");
        }
        let (status, body, headers) = new.tries(&one, &hello("n4")).await;
        assert_eq!((status, &body["error"]["code"]), (428, &json!("proof_needed")), "{body}");
        assert!(headers.contains_key("x-challenge"));
        assert_eq!(one.model.requests().len() + other.model.requests().len(), 3, "no model was asked for it");
        // Forty of a visitor with a binding, wherever they are sent to.
        let key = one.key(Role::Staff).await;
        let say = json!({ "binding": "counter", "text": "hi", "person": { "visitor": "0123456789abcdef" } });
        for at in 0..41 {
            test.clock.advance(std::time::Duration::from_secs(10));
            let node = if at % 2 == 0 { &one } else { &other };
            node.post("/v1/chat", &key, say.clone()).await.is(200);
        }
        for node in [&one, &other] {
            assert!(node.post("/v1/chat", &key, say.clone()).await.refused(429, "too_many_requests").contains("without one"));
        }
    }

    /// A proxy on this machine that nobody named: all who come through it are one, whatever it tells.
    async fn who_comes_through_an_unnamed_proxy_is_counted(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 4)).await;
        let mut answers = Vec::new();
        for id in 0..21 {
            let told = format!("198.51.100.{id}");
            let passed = Browser::from("127.0.0.1:9").with("x-forwarded-for", told).with("host", "shop.example");
            let said = json!({ "text": "free words please", "message_id": own(&format!("p{id}")) });
            answers.push(passed.tries(&house, &said).await.0);
        }
        assert_eq!(answers[..3], [200, 200, 200]);
        assert!(answers[3..20].iter().all(|status| *status == 428), "{answers:?}");
        assert_eq!(answers[20], 429, "twenty a minute");
        assert_eq!(house.model.requests().len(), 3);
        // Nor are wrong keys free there.
        let wrong = Browser::from("127.0.0.1:9").with("authorization", "Bearer mk_wrong").with("via", "1.1 proxy");
        let mut codes = Vec::new();
        for _ in 0..21 {
            codes.push(wrong.get(&house, "/v1/runs").await.0);
        }
        assert_eq!((codes[19], codes[20]), (401, 429));
    }

    /// A key that may only read has every id and word of a conversation, and nothing that makes it the visitor's.
    async fn who_reads_a_message_does_not_become_its_visitor(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 9)).await;
        let visitor = Browser::from("203.0.113.9:1");
        let (headers, _) = visitor.say(&house, "My secret is blue.", "1").await;
        let theirs = cookie(&headers);
        let reader = house.key(Role::Viewer).await;
        let sessions = house.get("/v1/sessions", &reader).await.is(200);
        let session = sessions["items"][0]["id"].as_str().unwrap().to_owned();
        let read = house.get(&format!("/v1/sessions/{session}/messages"), &reader).await.is(200);
        let message = read["items"].as_array().unwrap().iter().find(|one| one["text"] == "My secret is blue.").unwrap();
        let (text, id) = (&message["text"], &message["message_id"]);
        let forged = [
            json!({ "text": text, "message_id": id }),
            json!({ "text": text, "message_id": id, "secret": format!("{:0>32}", "x") }),
            json!({ "text": text, "message_id": id, "secret": id.as_str().unwrap().repeat(2) }),
        ];
        for (said, address) in forged.iter().zip(["198.51.100.1:1", "198.51.100.2:1", "198.51.100.3:1"]) {
            let thief = Browser::from(address);
            let (_, _, headers) = thief.tries(&house, said).await;
            let got = headers.contains_key("set-cookie").then(|| cookie(&headers));
            assert_ne!(got.as_ref(), Some(&theirs), "{said}");
            let known = thief.with("cookie", got.unwrap_or_default());
            let (_, thread) = known.get(&house, FRONT).await;
            assert!(!thread.to_string().contains("secret is blue"), "{thread}");
        }
        assert!(!read.to_string().contains(&visitor_secret()), "the secret is shown to nobody");
    }
}

fn visitor_secret() -> String {
    crate::api::visits::secret("1")
}
