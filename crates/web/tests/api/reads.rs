//! Looking at what there is.

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::api::support::Installation;

/// All items of a list, page by page.
async fn all(house: &Installation, key: &str, path: &str, limit: u32) -> Vec<Value> {
    let (mut items, mut after) = (Vec::new(), String::new());
    loop {
        let separator = if path.contains('?') { '&' } else { '?' };
        let page = house.get(&format!("{path}{separator}limit={limit}{after}"), key).await.is(200);
        let got = page["items"].as_array().unwrap();
        assert!(got.len() <= limit as usize);
        items.extend(got.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return items,
        }
    }
}

on_both! {
    async fn lists_come_in_pages(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 5)).await;
        let key = house.key(Role::Owner).await;
        for n in 0..5 {
            test.clock.advance(std::time::Duration::from_secs(1));
            let say = json!({ "binding": "counter", "text": format!("message {n}"), "person": house.shop.staff });
            house.post("/v1/chat", &key, say).await.is(200);
        }
        let runs = all(&house, &key, "/v1/runs", 2).await;
        assert_eq!(runs.len(), 5);
        assert!(runs.windows(2).all(|pair| pair[0]["began_at"].as_str() > pair[1]["began_at"].as_str()));
        let session = runs[0]["session"].as_str().unwrap();
        let messages = all(&house, &key, &format!("/v1/sessions/{session}/messages"), 3).await;
        let numbers: Vec<i64> = messages.iter().map(|one| one["number"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (1..=10).rev().collect::<Vec<_>>());
        assert_eq!(messages[9]["text"], "message 0");
        assert_eq!(all(&house, &key, "/v1/tiers", 1).await.len(), 6);
        assert_eq!(all(&house, &key, "/v1/bindings", 1).await.len(), 3);
        assert_eq!(all(&house, &key, "/v1/persons", 1).await.len(), 2);
        assert_eq!(all(&house, &key, &format!("/v1/runs?session={session}&state=done"), 2).await.len(), 5);
        assert_eq!(all(&house, &key, "/v1/runs?state=halted", 2).await.len(), 0);
        assert_eq!(all(&house, &key, &format!("/v1/sessions?person={}&binding={}", house.shop.staff, house.shop.binding), 2).await.len(), 1);
        let run = house.get(&format!("/v1/runs/{}", runs[0]["id"].as_str().unwrap()), &key).await.is(200);
        assert!(!run["steps"].as_array().unwrap().is_empty(), "{run}");
        let shown = house.get(&format!("/v1/sessions/{session}"), &key).await.is(200);
        assert_eq!(shown["messages"], 10);
        assert!(shown.get("masked").is_none() && shown.get("reply_to").is_none());
    }

    async fn tiers_and_usage_are_told(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Yes.")]).await;
        let key = house.key(Role::Viewer).await;
        let binding = house.get("/v1/bindings/counter", &key).await.is(200);
        assert_eq!((&binding["addresses"], &binding["versions"][0]["note"]), (&json!(["handle:shop-counter"]), &json!("first")));
        let human = house.get("/v1/tiers/human/meera", &key).await.is(200);
        assert_eq!((&human["version"], &human["values"]["name"]), (&json!(1), &json!("Meera")));
        let versions = house.get("/v1/tiers/agent/plain/versions", &key).await.is(200);
        assert_eq!(versions["items"][0]["is_current"], true);
        house.get("/v1/tiers/human/nobody", &key).await.refused(404, "not_found");
        house.get("/v1/tiers/human/meera?version=9", &key).await.refused(404, "not_found");
        house.get("/v1/tiers/robot/meera", &key).await.refused(400, "bad_request");
        let say = json!({ "binding": "counter", "text": "hi", "person": { "handle": "raju" } });
        house.post("/v1/chat", &key, say).await.is(200);
        let usage = house.get("/v1/usage", &key).await.is(200);
        assert_eq!((&usage["plan"], &usage["used"][0]["interactions"], &usage["since"]), (&json!("business"), &json!(1), &json!("2026-11-01")));
        let by = house.get("/v1/usage?by=binding&since=2026-01-01", &key).await.is(200);
        assert_eq!(by["used"][0]["id"], json!(house.shop.binding));
        house.get("/v1/usage?since=yesterday", &key).await.refused(400, "bad_request");
        // A key for some bindings hears of those alone.
        let other = test.ids.next::<munshi_types::BindingId>();
        let narrow = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), None, Some(vec![other])).await;
        for path in ["/v1/usage", "/v1/usage?by=person"] {
            house.get(path, &narrow).await.refused(403, "forbidden");
        }
        let told = house.get("/v1/usage?by=binding&since=2026-01-01", &narrow).await.is(200);
        assert_eq!((&told["used"], &told["limits"]), (&json!([]), &json!([])));
    }
}
