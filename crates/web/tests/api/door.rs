//! The test door.

use std::sync::atomic::Ordering;

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_test_support::models::ScriptedTurn;
use serde_json::json;

use crate::api::support::Installation;

on_both! {
    async fn a_test_rehearses_and_tells_everything(test: TestDb) {
        let script = [
            ScriptedTurn::call("note", &json!({ "text": "Raju owes 500" })),
            ScriptedTurn::call("count", &json!({})),
            ScriptedTurn::text("Noted: Raju owes 500."),
        ];
        let house = Installation::open(&test, script).await;
        let key = house.key(Role::Staff).await;
        let report = house.post("/v1/test", &key, json!({ "binding": "counter", "text": "Raju ko 500 udhaar diya" })).await.is(200);
        assert_eq!((&report["rehearsed"], &report["text"]), (&json!(true), &json!("Noted: Raju owes 500.")));
        let calls = report["calls"].as_array().unwrap();
        assert_eq!(calls.len(), 2, "{report}");
        assert_eq!((&calls[0]["tool"], &calls[0]["arguments"]["text"], &calls[0]["ok"]), (&json!("note"), &json!("Raju owes 500"), &json!(true)));
        assert_eq!(house.world.looks.load(Ordering::SeqCst), 1, "what only looks is really done");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM notes WHERE tenant_id = $1").await, 0, "nothing was written");
        assert!(report["prompt"]["total"].as_i64().unwrap() > 0, "{report}");
        assert!(report["timings"]["total"].as_i64().unwrap() > 0);
        // Whoever was made for it is nobody any more.
        let left = "SELECT COUNT(*) FROM persons WHERE tenant_id = $1 AND left_at IS NULL";
        assert_eq!(house.number(house.shop.tenant, left).await, 2);
        let run = house.get(&format!("/v1/runs/{}", report["run"].as_str().unwrap()), &key).await.is(200);
        assert_eq!(run["kind"], "rehearsal");
    }

    async fn a_test_acts_only_where_the_key_may(test: TestDb) {
        let script = || [ScriptedTurn::call("note", &json!({ "text": "x" })), ScriptedTurn::text("Noted.")];
        let house = Installation::open(&test, script().into_iter().chain(script())).await;
        let ask = json!({ "binding": "counter", "text": "note x", "act": true });
        let reader = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), Some(&["test:read"]), None).await;
        house.post("/v1/test", &reader, ask.clone()).await.refused(403, "forbidden");
        let notes = "SELECT COUNT(*) FROM notes WHERE tenant_id = $1";
        house.post("/v1/test", &reader, json!({ "binding": "counter", "text": "note x" })).await.is(200);
        assert_eq!(house.number(house.shop.tenant, notes).await, 0);
        let writer = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), Some(&["test"]), None).await;
        let report = house.post("/v1/test", &writer, ask).await.is(200);
        assert_eq!((&report["rehearsed"], house.number(house.shop.tenant, notes).await), (&json!(false), 1));
    }

    async fn nobody_is_tested_as_more_than_the_key(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::call("note", &json!({ "text": "x" })), ScriptedTurn::text("I can't."), ScriptedTurn::text("Hi.")]).await;
        let staff = house.key(Role::Staff).await;
        let ask = |standing: &str| json!({ "binding": "counter", "text": "note x", "as": standing });
        house.post("/v1/test", &staff, ask("admin")).await.refused(403, "forbidden");
        house.post("/v1/test", &staff, ask("king")).await.refused(422, "invalid");
        let report = house.post("/v1/test", &staff, ask("known")).await.is(200);
        assert_ne!(report["calls"][0]["ok"], json!(true), "a customer writes no notes: {report}");
        house.post("/v1/test", &staff, json!({ "binding": "nowhere", "text": "x" })).await.refused(404, "not_found");
        house.post("/v1/test", &staff, json!({ "binding": "counter", "text": " " })).await.refused(422, "invalid");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM persons WHERE tenant_id = $1").await, 3, "a refused one makes nobody");
    }
}
