//! Who is let in, and where.

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::api::support::Installation;

/// Every route, with a body that would do, by the ids of one business.
fn every_route(ids: &Ids) -> Vec<(&'static str, String, Option<Value>)> {
    let Ids { run, session, person, approval, key } = ids;
    let digest = json!({ "digest": "x" });
    vec![
        ("GET", format!("/v1/runs/{run}"), None),
        ("GET", format!("/v1/runs/{run}/stream"), None),
        ("POST", format!("/v1/runs/{run}/cancel"), None),
        ("GET", format!("/v1/sessions/{session}"), None),
        ("GET", format!("/v1/sessions/{session}/messages"), None),
        ("GET", format!("/v1/sessions/{session}/stream"), None),
        ("POST", format!("/v1/sessions/{session}/typing"), None),
        ("GET", format!("/v1/persons/{person}"), None),
        ("PATCH", format!("/v1/persons/{person}"), Some(json!({ "language": "hi" }))),
        (
            "POST",
            format!("/v1/persons/{person}/link"),
            Some(json!({ "session": session, "phone": "+919812345678", "deliver": "you" })),
        ),
        (
            "POST",
            format!("/v1/persons/{person}/confirm"),
            Some(json!({ "session": session, "code": "123456" })),
        ),
        ("GET", format!("/v1/approvals/{approval}"), None),
        ("POST", format!("/v1/approvals/{approval}/grant"), Some(digest.clone())),
        ("POST", format!("/v1/approvals/{approval}/refuse"), Some(digest)),
        ("GET", format!("/v1/keys/{key}"), None),
        ("POST", format!("/v1/keys/{key}/revoke"), None),
        (
            "POST",
            "/v1/chat".to_owned(),
            Some(json!({ "binding": "counter", "text": "hi", "person": person })),
        ),
        ("POST", format!("/v1/uploads?person={person}"), Some(json!("hello"))),
        (
            "POST",
            "/v1/keys".to_owned(),
            Some(json!({ "name": "x", "person": person, "speaks_as": "person" })),
        ),
    ]
}

/// Those that need no id.
const LISTS: [&str; 8] = [
    "/v1/runs",
    "/v1/sessions",
    "/v1/persons",
    "/v1/bindings",
    "/v1/tiers",
    "/v1/approvals",
    "/v1/usage",
    "/v1/keys",
];

struct Ids {
    run: String,
    session: String,
    person: String,
    approval: String,
    key: String,
}

/// A turn that waits for an approval, and the ids of all that it made.
async fn ids(house: &Installation, key: &str) -> Ids {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let say = json!({ "binding": "counter", "text": "wipe it", "person": house.shop.staff });
    let body = house.post("/v1/chat", key, say).await.is(200);
    let keys = house.get("/v1/keys", key).await.is(200);
    Ids {
        run: text(&body["run"]),
        session: text(&body["session"]),
        person: text(&body["person"]),
        approval: text(&body["approval"]),
        key: text(&keys["items"][0]["id"]),
    }
}

on_both! {
    async fn nobody_reaches_what_is_another_tenants(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::call("wipe", &json!({ "text": "all" }))]).await;
        let (own, foreign) = (house.key(Role::Owner).await, house.key_of(house.other.tenant, Role::Owner).await);
        let ids = ids(&house, &own).await;
        for (method, path, body) in every_route(&ids) {
            let reply = house.call(method, &path, &foreign, body.clone()).await;
            let words = reply.refused(404, "not_found");
            assert!(!words.contains("Farid") && !words.contains("Asha"), "{words}");
        }
        for path in LISTS {
            let body = house.get(path, &foreign).await.is(200).to_string();
            for id in [&ids.run, &ids.session, &ids.person, &ids.approval, &ids.key] {
                assert!(!body.contains(id), "{path} shows {id}");
            }
        }
        // A live run is no more open than one that is over.
        let hanging = house.get(&format!("/v1/runs/{}/stream", ids.run), &foreign).await;
        hanging.refused(404, "not_found");
        let seen = house.get(&format!("/v1/approvals/{}", ids.approval), &own).await.is(200);
        assert_eq!(seen["state"], "pending", "nothing was answered");
        let key = house.get(&format!("/v1/keys/{}", ids.key), &own).await.is(200);
        assert_eq!(key["revoked_at"], Value::Null);
    }

    async fn nobody_comes_in_without_a_good_key(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let good = house.key(Role::Owner).await;
        let mut slip = good.clone();
        slip.pop();
        for key in ["", "nonsense", slip.as_str()] {
            let reply = house.get("/v1/runs", key).await;
            reply.refused(401, "unauthenticated");
            assert_eq!(reply.header("www-authenticate"), "Bearer");
        }
        house.get("/v1/runs", &good).await.is(200);
        // The key is asked for before the body is looked at.
        house.call("POST", "/v1/chat", "", Some(json!("nonsense"))).await.refused(401, "unauthenticated");
    }

    async fn every_role_has_its_reach(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let viewer = house.key(Role::Viewer).await;
        for path in LISTS {
            let reply = house.get(path, &viewer).await;
            if path == "/v1/keys" {
                assert!(reply.refused(403, "forbidden").contains("admin"));
            } else {
                reply.is(200);
            }
        }
        assert!(house.post("/v1/persons", &viewer, json!({ "name": "X" })).await.refused(403, "forbidden").contains("staff"));
        house.post("/v1/test", &viewer, json!({ "binding": "counter", "text": "x" })).await.refused(403, "forbidden");
        let customer = house.customer("Raju").await;
        let known = house.key_with(house.shop.tenant, KeySubject::Person(customer), None, None).await;
        for path in LISTS {
            house.get(path, &known).await.refused(403, "forbidden");
        }
    }

    async fn a_small_key_opens_only_its_areas_and_bindings(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 5)).await;
        let shop = house.shop;
        let owner = house.key(Role::Owner).await;
        let small = house.key_with(shop.tenant, KeySubject::Role(Role::Owner), Some(&["chat", "runs:read", "bindings", "persons:read"]), Some(vec![shop.binding])).await;
        house.get("/v1/runs", &small).await.is(200);
        house.get("/v1/persons", &small).await.is(200);
        assert!(house.get("/v1/sessions", &small).await.refused(403, "forbidden").contains("sessions:read"));
        house.post("/v1/persons", &small, json!({ "name": "X" })).await.refused(403, "forbidden");
        let say = |binding: &str| json!({ "binding": binding, "text": "hi", "person": shop.staff });
        house.post("/v1/chat", &small, say("counter")).await.is(200);
        house.post("/v1/chat", &small, say("back")).await.refused(404, "not_found");
        house.post("/v1/chat", &small, say("nowhere")).await.refused(404, "not_found");
        let back = house.post("/v1/chat", &owner, say("back")).await.is(200);
        let run = back["run"].as_str().unwrap();
        for path in [format!("/v1/runs/{run}"), format!("/v1/runs/{run}/stream"), "/v1/bindings/back".to_owned()] {
            house.get(&path, &small).await.refused(404, "not_found");
        }
        assert!(!house.get("/v1/runs", &small).await.is(200).to_string().contains(run));
        let names = house.get("/v1/bindings", &small).await.is(200);
        assert_eq!(names["items"].as_array().unwrap().len(), 1);
        house.get(&format!("/v1/runs/{run}"), &owner).await.is(200);
    }
}
