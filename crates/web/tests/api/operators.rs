//! Operators and invitations over the API: who lets whom in, and when a link ends with whoever made it.

use munshi_identity::Role;
use munshi_identity::keys::{Area, KeySpeaker, KeySubject};
use munshi_identity::operators::{OPERATORS, roles};
use serde_json::{Value, json};

use crate::api::support::{Installation, PASSWORD};

/// The token of a link that was shown.
fn path(made: &Value) -> String {
    let link = made["link"].as_str().unwrap();
    format!("/account/{}", link.split_once("/account/").unwrap().1)
}

fn invitation(email: &str, role: &str) -> Value {
    json!({ "email": email, "role": role })
}

on_both! {
    async fn nobody_lets_in_more_than_they_are_themselves(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let admin = house.naming_key(Role::Admin, Some(Area::Operators)).await;
        house.post("/v1/invitations", &admin, invitation("a@b.example", "owner")).await.refused(403, "forbidden");
        house.post("/v1/invitations", &admin, invitation("a b", "staff")).await.refused(422, "invalid");
        house.post("/v1/invitations", &admin, invitation("a@b.example", "emperor")).await.refused(422, "invalid");
        house.post("/v1/keepers/invite", &admin, json!({ "email": "a@b.example" })).await.refused(403, "forbidden");
        let program = house.key_speaking(KeySpeaker::Program, shop, KeySubject::Role(Role::Owner), (Some(&["operators"]), None)).await;
        let staff = house.add_operator("staff@shop.example", shop, Role::Staff).await;
        let owner = house.add_operator("owner@shop.example", shop, Role::Owner).await;
        house.get("/v1/operators", &program).await.is(200);
        house.post("/v1/invitations", &program, invitation("a@b.example", "viewer")).await.refused(403, "forbidden");
        house.call("POST", &format!("/v1/operators/{staff}/link"), &program, None).await.refused(403, "forbidden");
        let role = json!({ "role": "viewer" });
        house.call("PATCH", &format!("/v1/operators/{staff}"), &program, Some(role)).await.refused(403, "forbidden");
        for (id, role) in [(owner, "staff"), (owner, "none"), (staff, "owner")] {
            let role = json!({ "role": role });
            house.call("PATCH", &format!("/v1/operators/{id}"), &admin, Some(role)).await.refused(403, "forbidden");
        }
        house.call("PATCH", &format!("/v1/operators/{staff}"), &admin, Some(json!({}))).await.refused(422, "invalid");
        house.call("POST", &format!("/v1/operators/{owner}/link"), &admin, None).await.refused(403, "forbidden");
        // An owner's invitation is not an admin's to take back.
        let key = house.naming_key(Role::Owner, Some(Area::Operators)).await;
        let made = house.post("/v1/invitations", &key, invitation("b@c.example", "owner")).await.is(201);
        let withdraw = format!("/v1/invitations/{}/withdraw", made["id"].as_str().unwrap());
        house.call("POST", &withdraw, &admin, None).await.refused(403, "forbidden");
        house.call("POST", &withdraw, &key, None).await.is(200);
        house.call("POST", &withdraw, &key, None).await.refused(404, "not_found");
    }

    async fn the_last_owner_stays_one_and_what_does_not_change_is_not_told(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let (owner, keeper) = (house.naming_key(Role::Owner, Some(Area::Operators)).await, house.keeper_key("keeper").await);
        let first = house.add_operator("owner@shop.example", shop, Role::Owner).await;
        let path = format!("/v1/operators/{first}");
        let said = house.call("PATCH", &path, &owner, Some(json!({ "role": "none" }))).await.refused(409, "conflict");
        assert!(said.contains("only owner"), "{said}");
        let reply = house.call_in("shop", ("PATCH", &path), &keeper, Some(json!({ "role": "staff" }))).await;
        reply.refused(409, "conflict");
        house.call("PATCH", &path, &owner, Some(json!({ "role": "owner" }))).await.is(200);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'operator.role_changed'";
        assert_eq!(house.number(shop, told).await, 0);
        house.add_operator("second@shop.example", shop, Role::Owner).await;
        let changed = house.call("PATCH", "/v1/operators/owner@shop.example", &owner, Some(json!({ "role": "staff" }))).await.is(200);
        assert_eq!((&changed["before"], &changed["now"]), (&json!("owner"), &json!("staff")));
        assert_eq!(house.number(shop, told).await, 1);
    }

    async fn a_tenant_sees_its_own_and_a_keeper_sees_all(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, other, now) = (house.shop.tenant, house.other.tenant, house.now());
        let (owner, keeper) = (house.naming_key(Role::Owner, Some(Area::Operators)).await, house.keeper_key("keeper").await);
        let both = house.add_operator("both@shop.example", shop, Role::Staff).await;
        house.vouch("both@shop.example").await;
        let grant = move |tx: &mut munshi_store::PlatformTx<'_>| munshi_test_support::administer_platform(tx, |tx| roles::grant(tx, both, other, Role::Viewer, now));
        house.db.platform(OPERATORS).write(grant).await.unwrap();
        house.add_operator("far@other.example", other, Role::Owner).await;
        let listed = house.get("/v1/operators", &owner).await.is(200);
        assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed["items"][0]["roles"], json!([{ "tenant": "shop", "role": "staff" }]));
        let all = house.get("/v1/operators?limit=1", &keeper).await.is(200);
        assert_eq!((all["items"][0]["roles"].as_array().unwrap().len(), &all["next"]), (2, &json!("both@shop.example")));
        let rest = house.get("/v1/operators?after=both@shop.example", &keeper).await.is(200);
        assert_eq!((&rest["items"][0]["email"], &rest["next"]), (&json!("far@other.example"), &json!(null)));
        // Whoever is elsewhere too is not a tenant's to open, nor is somebody of another tenant there at all.
        house.call("POST", &format!("/v1/operators/{both}/link"), &owner, None).await.refused(403, "forbidden");
        house.call("POST", "/v1/operators/far@other.example/link", &owner, None).await.refused(404, "not_found");
        house.call("POST", &format!("/v1/operators/{both}/link"), &keeper, None).await.is(201);
        for email in ["a@b.example", "c@d.example"] {
            house.post("/v1/invitations", &owner, invitation(email, "staff")).await.is(201);
        }
        house.post("/v1/keepers/invite", &keeper, json!({ "email": "e@f.example" })).await.is(201);
        let open = house.get("/v1/invitations", &owner).await.is(200);
        assert_eq!(open["items"].as_array().unwrap().len(), 2, "{open}");
        let mut seen = Vec::new();
        let mut next = String::new();
        for _ in 0..3 {
            let page = house.get(&format!("/v1/invitations?limit=1{next}"), &keeper).await.is(200);
            seen.push(page["items"][0]["email"].as_str().unwrap().to_owned());
            next = page["next"].as_str().map(|next| format!("&after={next}")).unwrap_or_default();
        }
        seen.sort();
        assert_eq!((seen, next.as_str()), (["a@b.example", "c@d.example", "e@f.example"].map(str::to_owned).to_vec(), ""));
        let elsewhere = house.key_with(other, KeySubject::Role(Role::Owner), Some(&["operators"]), None).await;
        assert_eq!(house.get("/v1/invitations", &elsewhere).await.is(200)["items"], json!([]));
    }

    async fn a_link_ends_with_the_key_that_made_it(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, mut browser) = (house.shop.tenant, house.browser());
        let owner = house.key_with(shop, KeySubject::Role(Role::Owner), Some(&["operators", "keys"]), None).await;
        let new = json!({ "name": "desk", "role": "owner", "speaks_as": "person", "areas": ["operators"] });
        let desk = house.post("/v1/keys", &owner, new).await.is(201);
        let key = desk["text"].as_str().unwrap();
        let made = house.post("/v1/invitations", key, invitation("New@shop.example", "staff")).await.is(201);
        assert_eq!(made["email"], "new@shop.example");
        let form = [("name", "New"), ("password", PASSWORD)];
        browser.post(&path(&made), &form).await.moved("/account");
        let raju = house.post("/v1/invitations", key, invitation("raju@shop.example", "staff")).await.is(201);
        let recovery = house.call("POST", "/v1/operators/new@shop.example/link", key, None).await.is(201);
        assert_eq!(browser.get(&path(&recovery)).await.status, 200);
        house.call("POST", &format!("/v1/keys/{}/revoke", desk["id"].as_str().unwrap()), &owner, None).await.is(200);
        for link in [&raju, &recovery] {
            assert_eq!(browser.get(&path(link)).await.status, 410);
            assert_eq!(browser.post(&path(link), &form).await.status, 410);
        }
        // Whoever lets somebody in with a key may be the one who comes: the e-mail is to be proved anew.
        house.vouch("new@shop.example").await;
        let recovery = house.call("POST", "/v1/operators/new@shop.example/link", &owner, None).await.is(201);
        browser.post(&path(&recovery), &[("password", "another good one")]).await.moved("/account");
        let listed = house.get("/v1/operators", &owner).await.is(200);
        assert_eq!((&listed["items"][0]["email"], &listed["items"][0]["proved_at"]), (&json!("new@shop.example"), &json!(null)));
        // A keeper's key ends what it made, too.
        let keeper = house.keeper_key("keeper").await;
        let made = house.post("/v1/keepers/invite", &keeper, json!({ "email": "vik@house.example" })).await.is(201);
        assert_eq!(browser.get(&path(&made)).await.status, 200);
        house.call("POST", &format!("/v1/keeper-keys/{}/revoke", &keeper[..11]), &keeper, None).await.is(200);
        assert_eq!(browser.get(&path(&made)).await.status, 410);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event LIKE 'link.%'
                    AND (payload LIKE '%@%' OR payload LIKE '%/account/link/%' OR subject LIKE '%@%')";
        assert_eq!(house.number(shop, told).await, 0, "neither a link nor whom it is for");
        let made = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'link.made'";
        assert_eq!(house.number(shop, made).await, 4);
    }
}
