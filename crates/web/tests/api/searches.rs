//! Messages by their words: for whoever may read them, and written down.

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_test_support::models::ScriptedTurn;
use serde_json::json;

use crate::api::support::Installation;

const SEARCHED: &str =
    "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'messages.searched'";

on_both! {
    async fn messages_are_found_by_whoever_may_read_them(test: TestDb) {
        let script = ["Ramesh owes 500.", "Ramesh owes 700.", "Nothing."].map(ScriptedTurn::text);
        let house = Installation::open(&test, script).await;
        let owner = house.key(Role::Owner).await;
        let own = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        for (who, text) in [(house.shop.staff, "what does रमेश owe?"), (house.shop.owner, "and now?"), (house.shop.owner, "what of Sita?")] {
            test.clock.advance(std::time::Duration::from_secs(1));
            house.post("/v1/chat", &owner, json!({ "binding": "counter", "text": text, "person": who })).await.is(200);
        }
        let found = house.get("/v1/messages/search?q=RAMESH", &owner).await.is(200);
        let mut excerpts: Vec<&str> = found["items"].as_array().unwrap().iter().map(|one| one["excerpt"].as_str().unwrap()).collect();
        // A question and its reply were written at the same time here.
        excerpts[1..].sort_unstable();
        assert_eq!(excerpts, ["Ramesh owes 700.", "Ramesh owes 500.", "what does रमेश owe?"]);
        assert_eq!((&found["items"][0]["speaker"], &found["items"][0]["number"], &found["next"]), (&json!("persona"), &json!(2), &json!(null)));
        assert_eq!(found["items"][0]["person"], json!(house.shop.owner));
        assert_eq!(house.number(house.shop.tenant, SEARCHED).await, 1);

        let page = house.get("/v1/messages/search?q=ramesh&limit=2", &owner).await.is(200);
        let rest = format!("/v1/messages/search?q=ramesh&limit=2&after={}", page["next"].as_str().unwrap());
        let rest = house.get(&rest, &owner).await.is(200);
        assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (1, &json!(null)));
        assert_eq!(house.number(house.shop.tenant, SEARCHED).await, 3, "a page can't be read unseen");

        let theirs = format!("/v1/messages/search?q=ramesh&person={}", house.shop.staff);
        assert_eq!(house.get(&theirs, &own).await.is(200)["items"].as_array().unwrap().len(), 2);
        assert_eq!(house.number(house.shop.tenant, SEARCHED).await, 3, "their own");
        house.get("/v1/messages/search?q=ramesh", &own).await.is(200);
        assert_eq!(house.number(house.shop.tenant, SEARCHED).await, 4);
        let since = found["items"][0]["said_at"].as_str().unwrap();
        let newer = house.get(&format!("/v1/messages/search?q=owes&since={since}"), &owner).await.is(200);
        let older = house.get(&format!("/v1/messages/search?q=owes&until={since}"), &owner).await.is(200);
        assert_eq!((newer["items"].as_array().unwrap().len(), older["items"].as_array().unwrap().len()), (1, 1));
    }

    async fn nobody_finds_what_they_do_not_reach(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Ramesh owes 500.")]).await;
        let owner = house.key(Role::Owner).await;
        let say = json!({ "binding": "counter", "text": "what of Ramesh?", "person": house.shop.staff });
        house.post("/v1/chat", &owner, say).await.is(200);
        let (path, nothing) = ("/v1/messages/search?q=ramesh", json!([]));
        let elsewhere = house.key_of(house.other.tenant, Role::Owner).await;
        assert_eq!(house.get(path, &elsewhere).await.is(200)["items"], nothing);
        let role = KeySubject::Role(Role::Owner);
        let bound = |binding| house.key_with(house.shop.tenant, role, None, Some(vec![binding]));
        assert_eq!(house.get(path, &bound(test.ids.next()).await).await.is(200)["items"], nothing);
        assert_eq!(house.get(path, &bound(house.shop.binding).await).await.is(200)["items"].as_array().unwrap().len(), 2);
        let closed = house.key_with(house.shop.tenant, role, Some(&["chat"]), None).await;
        house.get(path, &closed).await.refused(403, "forbidden");
        for bad in ["/v1/messages/search?q=", "/v1/messages/search?q=%22%E2%80%94%22"] {
            house.get(bad, &owner).await.refused(400, "bad_request");
        }
        house.get("/v1/messages/search", &owner).await.refused(400, "bad_request");
        // The words are in no entry of the audit.
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND CAST(payload AS TEXT) LIKE '%amesh%'";
        assert_eq!(house.number(house.shop.tenant, told).await, 0);
    }
}
