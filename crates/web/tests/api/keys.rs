//! Keys made and taken back through the API.

use munshi_identity::keys::KeySubject;
use munshi_identity::{Person, Role, persons};
use munshi_test_support::database::MORNING;
use serde_json::{Value, json};

use crate::api::support::Installation;

on_both! {
    async fn a_key_is_shown_once_and_taken_back(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let owner = house.key(Role::Owner).await;
        let new = json!({ "name": "till", "speaks_as": "person", "role": "staff", "areas": ["chat", "runs", "runs:read"], "bindings": ["counter"] });
        let made = house.post("/v1/keys", &owner, new.clone()).await.is(201);
        let (text, id) = (made["text"].as_str().unwrap(), made["id"].as_str().unwrap());
        assert_eq!((&made["areas"], &made["bindings"]), (&json!(["chat", "runs"]), &json!([house.shop.binding])));
        house.get("/v1/runs", text).await.is(200);
        house.get("/v1/persons", text).await.refused(403, "forbidden");
        for path in ["/v1/keys".to_owned(), format!("/v1/keys/{id}")] {
            assert!(!house.get(&path, &owner).await.is(200).to_string().contains(text));
        }
        house.post("/v1/keys", &owner, new).await.refused(409, "conflict");
        assert_ne!(house.call("POST", &format!("/v1/keys/{id}/revoke"), &owner, None).await.is(200)["revoked_at"], Value::Null);
        house.call("POST", &format!("/v1/keys/{id}/revoke"), &owner, None).await.is(200);
        house.get("/v1/runs", text).await.refused(401, "unauthenticated");
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event LIKE 'api_key.%'";
        assert_eq!(house.number(house.shop.tenant, told).await, 2, "made and revoked, each once");
    }

    async fn no_key_outlives_the_one_it_was_made_with(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let owner = house.key(Role::Owner).await;
        let new = |name: &str, more: Value| {
            let mut new = json!({ "name": name, "role": "owner", "speaks_as": "person" });
            new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            new
        };
        let (soon, late) = ("2030-01-02T00:00:00Z", "2030-01-03T00:00:00Z");
        let short = house.post("/v1/keys", &owner, new("short", json!({ "expires_at": soon }))).await.is(201);
        let short_text = short["text"].as_str().unwrap();
        for more in [json!({}), json!({ "expires_at": late })] {
            let child = house.post("/v1/keys", short_text, new(&more.to_string(), more)).await.is(201);
            assert_eq!(child["expires_at"], short["expires_at"], "{child}");
        }
    }

    async fn a_key_made_for_somebody_else_makes_none(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop;
        let admin = Person { role: Some(Role::Admin), ..Person::new(&test.ids, "Farida", MORNING) };
        let farida = admin.id;
        house.db.write(shop.tenant, move |tx| persons::upsert(tx, &admin)).await.unwrap();
        let own = house.key_with(shop.tenant, KeySubject::Person(shop.owner), None, None).await;
        let lent = json!({ "name": "lent", "speaks_as": "person", "person": farida });
        let lent = house.post("/v1/keys", &own, lent).await.is(201);
        let lent = lent["text"].as_str().unwrap();
        let new = |name: &str| json!({ "name": name, "role": "staff", "speaks_as": "person" });
        house.post("/v1/keys", lent, new("laundered")).await.refused(403, "forbidden");
        house.post("/v1/keys", &own, new("plain")).await.is(201);
        let hers = house.key_with(shop.tenant, KeySubject::Person(farida), None, None).await;
        house.post("/v1/keys", &hers, new("hers")).await.is(201);
    }

    async fn no_key_makes_one_that_is_more_than_itself(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop;
        let admin = house.key(Role::Admin).await;
        let new = |name: &str, role: &str| json!({ "name": name, "role": role, "speaks_as": "person" });
        house.post("/v1/keys", &admin, new("a", "admin")).await.is(201);
        house.post("/v1/keys", &admin, new("b", "owner")).await.refused(403, "forbidden");
        house.post("/v1/keys", &admin, json!({ "name": "c", "speaks_as": "person", "person": shop.owner })).await.refused(403, "forbidden");
        let small = house.key_with(shop.tenant, KeySubject::Role(Role::Owner), Some(&["keys", "chat:read"]), Some(vec![shop.binding])).await;
        let wide = json!({ "name": "d", "speaks_as": "person", "role": "owner", "areas": ["chat"] });
        house.post("/v1/keys", &small, wide).await.refused(403, "forbidden");
        house.post("/v1/keys", &small, json!({ "name": "e", "speaks_as": "person", "role": "owner", "bindings": ["back"] })).await.refused(422, "invalid");
        let made = house.post("/v1/keys", &small, new("f", "owner")).await.is(201);
        assert_eq!((&made["areas"], &made["bindings"]), (&json!(["keys", "chat:read"]), &json!([shop.binding])));
        for bad in [
            json!({ "name": "g", "speaks_as": "person" }),
            json!({ "name": "g", "role": "staff" }),
            json!({ "name": "g", "role": "staff", "speaks_as": "robot" }),
            json!({ "name": "g", "speaks_as": "person", "role": "staff", "person": shop.staff }),
            json!({ "name": "", "speaks_as": "person", "role": "staff" }),
            json!({ "name": "g\0", "speaks_as": "person", "role": "staff" }),
            json!({ "name": "g", "speaks_as": "person", "role": "staff", "areas": [] }),
            json!({ "name": "g", "speaks_as": "person", "role": "staff", "areas": ["everything"] }),
            json!({ "name": "g", "speaks_as": "person", "role": "staff", "expires_at": "2001-01-01T00:00:00Z" }),
            json!({ "name": "g", "speaks_as": "person", "role": "staff", "expires_at": "soon" }),
        ] {
            house.post("/v1/keys", &admin, bad).await.refused(422, "invalid");
        }
        let owner = house.key(Role::Owner).await;
        let keys = house.get("/v1/keys", &owner).await.is(200);
        let owners = keys["items"].as_array().unwrap().iter().find(|key| key["role"] == "owner").unwrap();
        let higher = owners["id"].as_str().unwrap();
        house.call("POST", &format!("/v1/keys/{higher}/revoke"), &admin, None).await.refused(403, "forbidden");
    }

    async fn who_may_not_look_at_people_finds_none_by_making_keys(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let keys = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), Some(&["keys"]), None).await;
        for person in ["Asha", "+919812345678", "nobody@munshi.example"] {
            let new = json!({ "name": "", "speaks_as": "program", "person": person });
            house.post("/v1/keys", &keys, new).await.refused(403, "forbidden");
        }
    }

    async fn a_rotated_key_shows_its_text_to_nobody_who_has_less(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop;
        let owner = house.key(Role::Owner).await;
        let wide = json!({ "name": "wide", "role": "staff", "speaks_as": "person" });
        let wide = house.post("/v1/keys", &owner, wide).await.is(201);
        let path = format!("/v1/keys/{}/rotate", wide["id"].as_str().unwrap());
        let role = KeySubject::Role(Role::Owner);
        let narrow = house.key_with(shop.tenant, role, Some(&["keys"]), None).await;
        house.call("POST", &path, &narrow, None).await.refused(403, "forbidden");
        let one_binding = house.key_with(shop.tenant, role, None, Some(vec![shop.binding])).await;
        house.call("POST", &path, &one_binding, None).await.refused(403, "forbidden");
        // One that did not make it would keep what it is shown after it was revoked itself.
        let other = house.key(Role::Owner).await;
        house.call("POST", &path, &other, None).await.refused(403, "forbidden");
        house.post(&path, &owner, json!({ "grace": 721 })).await.refused(422, "invalid");
        let rotated = house.post(&path, &owner, json!({ "grace": 0 })).await.is(200);
        house.get("/v1/runs", wide["text"].as_str().unwrap()).await.refused(401, "unauthenticated");
        house.get("/v1/runs", rotated["text"].as_str().unwrap()).await.is(200);
        let keys = house.get("/v1/keys", &owner).await.is(200);
        let keys = keys["items"].as_array().unwrap();
        let parent = keys.iter().find(|key| owner.starts_with(key["secrets"][0]["handle"].as_str().unwrap())).unwrap();
        let revoke = format!("/v1/keys/{}/revoke", parent["id"].as_str().unwrap());
        house.call("POST", &revoke, &other, None).await.is(200);
        house.get("/v1/runs", rotated["text"].as_str().unwrap()).await.refused(401, "unauthenticated");
    }
}
