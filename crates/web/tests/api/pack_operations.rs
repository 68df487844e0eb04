//! What packs have to be administered, over the API and MCP.

use munshi_identity::Role;
use munshi_identity::keys::{KeySpeaker, KeySubject};
use munshi_safety::policy;
use munshi_test_support::database::MORNING;
use serde_json::{Value, json};

use crate::api::mcp;
use crate::api::support::Installation;

const COUNT: &str = "/v1/packs/notes/count";
const FORGET: &str = "/v1/packs/notes/forget";
const TOLD: &str = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'notes.forgotten'";

async fn key(house: &Installation, role: Role, areas: &[&str]) -> String {
    house.key_with(house.shop.tenant, KeySubject::Role(role), Some(areas), None).await
}

fn eggs() -> Value {
    json!({ "text": "eggs" })
}

on_both! {
    async fn a_packs_operation_opens_for_those_it_names(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        for (role, may_write) in [(Role::Viewer, false), (Role::Staff, true), (Role::Admin, true), (Role::Owner, true)] {
            let (key, before) = (key(&house, role, &["packs"]).await, house.number(shop, TOLD).await);
            assert_eq!(house.get(COUNT, &key).await.is(200), json!({ "count": 0 }));
            let reply = house.post(FORGET, &key, eggs()).await;
            match may_write {
                true => assert_eq!(reply.is(200), json!({ "count": 0 })),
                false => drop(reply.refused(403, "forbidden")),
            }
            assert_eq!(house.number(shop, TOLD).await - before, i64::from(may_write), "{role}");
        }
        // A key from before the area was there has not gained it; one that only looks changes nothing.
        let all = house.key(Role::Owner).await;
        house.get(COUNT, &all).await.refused(403, "forbidden");
        let looks = key(&house, Role::Owner, &["packs:read"]).await;
        house.get(COUNT, &looks).await.is(200);
        house.post(FORGET, &looks, eggs()).await.refused(403, "forbidden");
        let customer = house.customer("Raju").await;
        let customer = house.key_with(shop, KeySubject::Person(customer), Some(&["packs"]), None).await;
        house.get(COUNT, &customer).await.refused(403, "forbidden");
        house.get(COUNT, "").await.refused(401, "unauthenticated");
        let owner = key(&house, Role::Owner, &["packs"]).await;
        house.post(FORGET, &owner, json!({ "words": 1 })).await.refused(422, "invalid");
        house.get(&format!("{COUNT}?x=1"), &owner).await.refused(400, "bad_request");
        let keeper = house.keeper_key("keeper").await;
        house.get(COUNT, &keeper).await.refused(422, "invalid");
        house.call_in("shop", ("GET", COUNT), &keeper, None).await.is(200);
        let document = house.get("/openapi.json", "").await.is(200);
        assert_eq!(document["paths"][FORGET]["post"]["operationId"], "forget_notes_entries");
    }

    async fn a_policy_closes_a_packs_operation(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let rules = policy::parse("[roles.staff]\ndeny = [\"notes.note.forget\"]\n").unwrap();
        let put = house.db.write(house.shop.tenant, move |tx| policy::apply(tx, &rules, "test", "", MORNING));
        put.await.unwrap();
        let (staff, admin) = (key(&house, Role::Staff, &["packs"]).await, key(&house, Role::Admin, &["packs"]).await);
        house.get(COUNT, &staff).await.is(200);
        house.post(FORGET, &staff, eggs()).await.refused(403, "forbidden");
        assert_eq!(house.number(house.shop.tenant, TOLD).await, 0);
        house.post(FORGET, &admin, eggs()).await.is(200);
    }

    async fn over_mcp_a_packs_change_waits_for_a_person(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, role) = (house.shop.tenant, KeySubject::Role(Role::Owner));
        let open = ["administration", "packs"];
        let program = house.key_speaking(KeySpeaker::Program, shop, role, (Some(&open), None)).await;
        let looked = mcp::call(&house, &program, "read_notes_count", json!({})).await;
        assert_eq!(looked["structuredContent"], json!({ "count": 0 }));
        let asked = mcp::call(&house, &program, "forget_notes_entries", eggs()).await;
        assert_eq!((&asked["structuredContent"]["state"], house.number(shop, TOLD).await), (&json!("waiting"), 0));
        let grant = format!("/v1/proposals/{}/grant", asked["structuredContent"]["id"].as_str().unwrap());
        let boss = house.key_with(shop, role, Some(&open), None).await;
        let digest = json!({ "digest": asked["structuredContent"]["digest"] });
        let done = house.call("POST", &grant, &boss, Some(digest)).await.is(200);
        assert_eq!((&done["state"], &done["outcome"]), (&json!("done"), &json!({ "count": 0 })));
        assert_eq!(house.number(shop, TOLD).await, 1);
    }
}
