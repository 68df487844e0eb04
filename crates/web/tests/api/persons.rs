//! People through the API.

use munshi_identity::Role;
use munshi_identity::keys::{Area, KeySpeaker, KeySubject};
use munshi_test_support::models::ScriptedTurn;
use munshi_types::PersonId;
use serde_json::{Value, json};

use crate::api::support::Installation;

/// Forgets somebody, and gives the receipt.
pub(super) async fn forget(house: &Installation, id: String) -> Value {
    let eraser = house.naming_key(Role::Owner, Some(Area::Erasure)).await;
    house.call("POST", &format!("/v1/persons/{id}/forget"), &eraser, None).await.is(200).clone()
}

on_both! {
    async fn somebody_is_forgotten_while_their_turn_waits(test: TestDb) {
        let wipe = ScriptedTurn::call("wipe", &json!({ "text": "zanzibar" }));
        let house = Installation::open(&test, [wipe]).await;
        let owner = house.key(Role::Owner).await;
        let new = json!({ "name": "Rameshwari", "role": "staff", "phone": "+919876501234" });
        let made = house.post("/v1/persons", &owner, new).await.is(201);
        let id = made["id"].as_str().unwrap().to_owned();
        let say = json!({ "binding": "counter", "text": "wipe zanzibar", "person": id });
        let asked = house.post("/v1/chat", &owner, say).await.is(200);
        let eraser = house.naming_key(Role::Admin, Some(Area::Erasure)).await;
        let path = format!("/v1/persons/{id}/forget");
        house.call("POST", &path, &owner, None).await.refused(403, "forbidden");
        let refused = house.call("POST", &path, &eraser, None).await.refused(409, "conflict");
        assert!(refused.contains("leave"), "who works here leaves first: {refused}");
        house.key_with(house.shop.tenant, KeySubject::Person(id.parse().unwrap()), None, None).await;
        house.call("POST", &format!("/v1/persons/{id}/leave"), &owner, None).await.is(200);
        let good = "SELECT COUNT(*) FROM api_keys WHERE tenant_id = $1 AND person_id IS NOT NULL AND revoked_at IS NULL";
        assert_eq!(house.number(house.shop.tenant, good).await, 1);

        let receipt = forget(&house, id.clone()).await;
        assert_eq!((&receipt["state"], &receipt["keys"]), (&json!("done"), &json!(1)));
        assert_eq!(house.number(house.shop.tenant, good).await, 0);
        let noted = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'api_key.revoked'";
        assert_eq!(house.number(house.shop.tenant, noted).await, 1);
        let shown = house.get(&format!("/v1/persons/{id}"), &owner).await.is(200);
        assert_eq!((&shown["name"], &shown["addresses"]), (&json!(""), &json!([])));
        let run = house.get(&format!("/v1/runs/{}", asked["run"].as_str().unwrap()), &owner).await.is(200).to_string();
        assert!(!run.contains("zanzibar"), "{run}");
        house.get(&format!("/v1/approvals/{}", asked["approval"].as_str().unwrap()), &owner).await.refused(404, "not_found");
        let said = house.get(&format!("/v1/sessions/{}/messages", asked["session"].as_str().unwrap()), &owner).await.is(200);
        assert_eq!(said["items"], json!([]));
        let listed = house.get("/v1/erasures", &owner).await.is(200);
        assert_eq!(listed["items"], json!([receipt]));
        // The phone is free for whoever has it now.
        let again = json!({ "name": "Somebody", "phone": "+919876501234" });
        house.post("/v1/persons", &owner, again).await.is(201);
    }

    async fn nothing_is_added_to_what_was_somebodys_who_was_forgotten(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Marigolds are in.")]).await;
        let owner = house.key(Role::Owner).await;
        let made = house.post("/v1/persons", &owner, json!({ "name": "Rameshwari" })).await.is(201);
        let id = made["id"].as_str().unwrap().to_owned();
        let say = json!({ "binding": "counter", "text": "are marigolds in?", "person": id });
        let said = house.post("/v1/chat", &owner, say).await.is(200);
        let handoffs = format!("/v1/sessions/{}/handoffs", said["session"].as_str().unwrap());
        house.post(&handoffs, &owner, json!({ "to": "front", "reason": "She called." })).await.is(200);
        forget(&house, id).await;
        let refused = house.post(&handoffs, &owner, json!({ "to": "front", "reason": "She called again." })).await;
        let words = refused.refused(409, "conflict");
        assert!(words.contains("was forgotten: nothing can be added to it."), "{words}");
        house.get(&handoffs.replace("handoffs", "messages"), &owner).await.is(200);
    }

    async fn somebody_is_told_all_that_is_known(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Marigolds are in.")]).await;
        let owner = house.key(Role::Owner).await;
        let new = json!({ "name": "Rameshwari", "phone": "+919876501234" });
        let made = house.post("/v1/persons", &owner, new).await.is(201);
        let id = made["id"].as_str().unwrap().to_owned();
        let say = json!({ "binding": "counter", "text": "are marigolds in?", "person": id });
        house.post("/v1/chat", &owner, say).await.is(200);
        let path = format!("/v1/persons/{id}/export");
        house.get(&path, &owner).await.refused(403, "forbidden");
        let taker = house.naming_key(Role::Admin, Some(Area::Erasure)).await;
        house.get(&format!("{path}?after=here"), &taker).await.refused(400, "bad_request");
        house.get(&format!("{path}?limit=0"), &taker).await.refused(400, "bad_request");
        let (mut told, mut parts, mut next) = (String::new(), 0, String::new());
        loop {
            let part = house.get(&format!("{path}?limit=2{next}"), &taker).await.is(200);
            told += &part["records"].to_string();
            parts += 1;
            match part["next"].as_str() {
                Some(after) => next = format!("&after={}", after.replace(' ', "%20").replace('~', "%7E")),
                None => break,
            }
        }
        for known in ["Rameshwari", "+919876501234", "are marigolds in?", "Marigolds are in."] {
            assert!(told.contains(known), "{known} is not in {told}");
        }
        let noted = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'person.exported'";
        assert_eq!(house.number(house.shop.tenant, noted).await, parts);
    }

    async fn somebody_is_added_and_changed(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let staff = house.key(Role::Staff).await;
        let new = json!({ "name": "Raju", "phone": "98123 45678", "email": "Raju@Shop.Example", "tags": ["customers"], "language": "hi" });
        let made = house.post("/v1/persons", &staff, new.clone()).await.is(201);
        assert_eq!((&made["visitor"], made["addresses"].as_array().unwrap().len()), (&json!(false), 2));
        house.post("/v1/persons", &staff, new).await.refused(409, "conflict");
        let path = format!("/v1/persons/{}", made["id"].as_str().unwrap());
        let change = |body: Value| house.call("PATCH", &path, &staff, Some(body));
        let after = change(json!({ "language": "ta", "tags": [] })).await.is(200);
        assert_eq!((&after["language"], &after["tags"], &after["name"]), (&json!("ta"), &json!([]), &json!("Raju")));
        change(json!({ "language": "klingon" })).await.refused(422, "invalid");
        change(json!({ "name": "A\u{202e}" })).await.refused(422, "invalid");
        change(json!({ "shoe_size": 9 })).await.refused(422, "invalid");
        change(json!({ "role": "staff" })).await.refused(403, "forbidden");
        assert_eq!(change(json!({ "role": null })).await.is(200)["role"], Value::Null);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event IN ('person.added', 'person.changed')";
        assert_eq!(house.number(house.shop.tenant, told).await, 2);
    }

    async fn roles_are_given_by_those_who_may(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (owner, admin, staff) = (house.key(Role::Owner).await, house.key(Role::Admin).await, house.key(Role::Staff).await);
        house.post("/v1/persons", &staff, json!({ "name": "X", "role": "viewer" })).await.refused(403, "forbidden");
        house.post("/v1/persons", &admin, json!({ "name": "X", "role": "owner" })).await.refused(403, "forbidden");
        let made = house.post("/v1/persons", &admin, json!({ "name": "X", "role": "admin" })).await.is(201);
        let path = |id: &Value| format!("/v1/persons/{}", id.as_str().unwrap());
        let boss = json!(house.shop.owner);
        house.call("PATCH", &path(&boss), &admin, Some(json!({ "name": "Nobody" }))).await.refused(403, "forbidden");
        house.call("PATCH", &path(&made["id"]), &staff, Some(json!({ "name": "Nobody" }))).await.refused(403, "forbidden");
        house.call("PATCH", &path(&boss), &owner, Some(json!({ "role": null }))).await.refused(409, "conflict");
        house.call("PATCH", &path(&made["id"]), &owner, Some(json!({ "role": "owner" }))).await.is(200);
        house.call("PATCH", &path(&boss), &owner, Some(json!({ "role": null }))).await.is(200);
    }

    async fn what_makes_somebody_more_is_given_by_those_who_may(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (owner, admin, staff) = (house.key(Role::Owner).await, house.key(Role::Admin).await, house.key(Role::Staff).await);
        let program = house.key_speaking(KeySpeaker::Program, house.shop.tenant, KeySubject::Role(Role::Owner), (None, None)).await;
        let path = format!("/v1/persons/{}", house.shop.staff);
        let change = async |key: &str, body: Value| house.call("PATCH", &path, key, Some(body)).await;
        // Whoever has a member's phone speaks as them, and a scope may be more than a role.
        for body in [json!({ "addresses": ["98123 45670"] }), json!({ "opened": ["*"] }), json!({ "closed": ["ledger.*"] })] {
            change(&staff, body.clone()).await.refused(403, "forbidden");
            change(&program, body).await.refused(403, "forbidden");
        }
        change(&admin, json!({ "opened": ["*"] })).await.refused(403, "forbidden");
        let after = change(&admin, json!({ "addresses": ["98123 45670", "@nina"] })).await.is(200);
        assert_eq!(after["changed"], json!(["addresses"]));
        let after = change(&owner, json!({ "opened": ["crm.*"] })).await.is(200);
        assert_eq!((&after["changed"], &after["opened"]), (&json!(["opened"]), &json!(["crm.*"])));
        assert_eq!(change(&owner, json!({ "opened": ["crm.*"] })).await.is(200)["changed"], json!([]));
        // Leaving takes a role, coming back gives it.
        let leave = format!("{path}/leave");
        for key in [&staff, &program] {
            house.call("POST", &leave, key, None).await.refused(403, "forbidden");
        }
        let boss = format!("/v1/persons/{}/leave", house.shop.owner);
        house.call("POST", &boss, &admin, None).await.refused(403, "forbidden");
        house.call("POST", &boss, &owner, None).await.refused(409, "conflict");
        assert_eq!(house.call("POST", &leave, &admin, None).await.is(200)["changed"], true);
        assert_eq!(house.call("POST", &leave, &admin, None).await.is(200)["changed"], false);
        change(&owner, json!({ "name": "Nobody" })).await.refused(409, "conflict");
        change(&staff, json!({ "back": true })).await.refused(403, "forbidden");
        let back = change(&admin, json!({ "back": true })).await.is(200);
        assert_eq!((&back["changed"], &back["left_at"], &back["role"]), (&json!(["leaving"]), &Value::Null, &json!("staff")));
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event IN ('person.left', 'person.returned')";
        assert_eq!(house.number(house.shop.tenant, told).await, 2);
    }

    async fn a_visitor_proves_a_phone_and_becomes_somebody(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 3)).await;
        let key = house.key(Role::Owner).await;
        let known = house.post("/v1/persons", &key, json!({ "name": "Raju", "phone": "+919812345678" })).await.is(201);
        let say = |who: Value| json!({ "binding": "counter", "text": "hi", "person": who });
        let before = house.post("/v1/chat", &key, say(known["id"].clone())).await.is(200);
        let visitor = house.post("/v1/chat", &key, say(json!({ "visitor": "0123456789abcdef" }))).await.is(200);
        let path = |verb: &str| format!("/v1/persons/{}/{verb}", visitor["person"].as_str().unwrap());
        let ask = json!({ "session": visitor["session"], "phone": "+919812345678" });
        house.post(&path("link"), &key, ask.clone()).await.refused(409, "conflict");
        let mut ask = ask;
        ask["deliver"] = json!("you");
        let staff = house.key(Role::Staff).await;
        house.post(&path("link"), &staff, ask.clone()).await.refused(403, "forbidden");
        let other = json!({ "session": before["session"], "phone": "+919812345678", "deliver": "you" });
        house.post(&path("link"), &key, other).await.refused(404, "not_found");
        let program = house.key_speaking(KeySpeaker::Program, house.shop.tenant, KeySubject::Role(Role::Owner), (None, None)).await;
        let refused = house.post(&path("link"), &program, ask.clone()).await.refused(403, "forbidden");
        assert!(refused.contains("program"), "{refused}");
        let asked = house.post(&path("link"), &key, ask).await.is(202);
        let code = asked["code"].as_str().unwrap();
        let wrong = if code == "000000" { "000001" } else { "000000" };
        let answer = |code: &str| json!({ "session": visitor["session"], "code": code });
        house.post(&path("confirm"), &key, answer("not digits")).await.refused(422, "invalid");
        assert!(house.post(&path("confirm"), &key, answer(wrong)).await.refused(409, "conflict").contains("4 tries left"));
        let linked = house.post(&path("confirm"), &key, answer(code)).await.is(200);
        assert_eq!((&linked["person"]["id"], &linked["merged"]), (&known["id"], &visitor["person"]));
        let again = house.post("/v1/chat", &key, say(visitor["person"].clone())).await.is(200);
        assert_eq!((&again["person"], &again["session"]), (&known["id"], &linked["session"]));
    }

    async fn where_somebody_is_reached_is_theirs_or_a_higher_roles_to_say(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (owner, staff) = (house.shop.owner, house.shop.staff);
        let path = |person: PersonId| format!("/v1/persons/{person}/reach");
        let own = house.key_with(house.shop.tenant, KeySubject::Person(owner), None, None).await;
        let (owners, at_till) = (house.key(Role::Owner).await, house.key(Role::Staff).await);
        let silent = || Some(json!({ "alerts": [], "requests": [] }));
        house.call("PATCH", &path(staff), &at_till, silent()).await.refused(403, "forbidden");
        house.call("PATCH", &path(owner), &owners, silent()).await.refused(403, "forbidden");
        let shown = house.call("PATCH", &path(staff), &owners, silent()).await.is(200);
        assert_eq!((&shown["requests"]["chosen"], &shown["approvals"]["chosen"]), (&json!(true), &json!(false)));
        let there = house.call("PATCH", &path(owner), &own, Some(json!({ "zone": "UTC", "alerts": [] }))).await.is(200);
        assert_eq!(there["zone"], "UTC");
        let back = house.call("PATCH", &path(owner), &own, Some(json!({ "reset": ["zone", "alerts"] }))).await.is(200);
        assert_eq!((&back["zone"], &back["alerts"]["chosen"]), (&json!(null), &json!(false)));
        house.call("PATCH", &path(owner), &own, Some(json!({ "reset": ["nothing"] }))).await.refused(422, "invalid");
    }
}
