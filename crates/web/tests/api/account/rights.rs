//! Who may do what to whom: roles, tenants, keys.

use munshi_identity::Role;
use munshi_identity::operators::{OPERATORS, roles};

use crate::api::support::{Browser, Installation};

/// The id under which somebody stands on the page of people.
async fn id_of(browser: &mut Browser<'_>, name: &str) -> String {
    let text = browser.get("/account/operators").await.text();
    let part =
        text.split("action=\"/account/operators/").find(|part| part.contains(&format!("Role: {name}\"")));
    part.unwrap_or_else(|| panic!("{name} is not in {text}")).split('/').next().unwrap().to_owned()
}

on_both! {
    async fn another_tenants_operator_reaches_nothing(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let mut evil = house.operator("evil@other.example", house.other.tenant, Role::Owner).await;
        asha.submit("/account/keys", &[("name", "till"), ("speaks_as", "person"), ("role", "staff")]).await.says(201, "Keep the key of");
        let page = asha.get("/account/keys").await;
        let key = page.between("/account/keys/", "/rotate");
        let own = id_of(&mut asha, "asha").await;
        assert_eq!(evil.submit("/account/workspace", &[("workspace", "shop")]).await.status, 404);
        for path in [format!("/account/keys/{key}/revoke"), format!("/account/keys/{key}/rotate"), format!("/account/operators/{own}/link")] {
            assert_eq!(evil.submit(&path, &[]).await.status, 404, "{path}");
        }
        assert_eq!(evil.submit(&format!("/account/operators/{own}/role"), &[("role", "none")]).await.status, 404);
        let seen = evil.get("/account/keys").await.text() + &evil.get("/account/operators").await.text();
        assert!(!seen.contains("till") && !seen.contains("asha"), "{seen}");
        let listed = evil.send("GET", "/v1/keys", &[("x-munshi-tenant", "shop")], None).await;
        assert_eq!(listed.status, 403);
        asha.get("/account/keys").await.says(200, "till");
        // An invitation of another tenant can't be taken back either.
        asha.submit("/account/operators", &[("email", "new@shop.example"), ("role", "staff")]).await.says(201, "new@shop.example");
        let link = asha.get("/account/operators").await.between("/account/invitations/", "/withdraw");
        assert_eq!(evil.submit(&format!("/account/invitations/{link}/withdraw"), &[]).await.status, 404);
        asha.submit(&format!("/account/invitations/{link}/withdraw"), &[]).await.says(200, "good for nothing");
    }

    async fn nobody_gives_or_takes_what_stands_above_them(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut owner = house.operator("owner@shop.example", house.shop.tenant, Role::Owner).await;
        let mut admin = house.operator("admin@shop.example", house.shop.tenant, Role::Admin).await;
        let mut staff = house.operator("staff@shop.example", house.shop.tenant, Role::Staff).await;
        for path in ["/account/keys", "/account/operators"] {
            assert_eq!(staff.get(path).await.status, 403);
        }
        assert_eq!(staff.submit("/account/keys", &[("name", "a"), ("speaks_as", "person"), ("role", "viewer")]).await.status, 403);
        assert_eq!(staff.submit("/account/operators", &[("email", "a@b.example"), ("role", "viewer")]).await.status, 403);
        assert_eq!(admin.submit("/account/operators", &[("email", "a@b.example"), ("role", "owner")]).await.status, 403);
        assert_eq!(admin.submit("/account/keys", &[("name", "a"), ("speaks_as", "person"), ("role", "owner")]).await.status, 403);
        let above = id_of(&mut owner, "owner").await;
        assert_eq!(admin.submit(&format!("/account/operators/{above}/role"), &[("role", "none")]).await.status, 403);
        assert_eq!(admin.submit(&format!("/account/operators/{above}/link"), &[]).await.status, 403);
        assert_eq!(owner.submit(&format!("/account/operators/{above}/role"), &[("role", "staff")]).await.status, 409, "the only owner");
        // A changed role is a new sign-in.
        let below = id_of(&mut owner, "staff").await;
        owner.submit(&format!("/account/operators/{below}/role"), &[("role", "admin")]).await.says(200, "signs in again");
        assert!(!staff.is_in().await);
        staff.sign_in("staff@shop.example", crate::api::support::PASSWORD).await.moved("/account");
        staff.get("/account/keys").await.says(200, "API keys of shop");
        owner.submit(&format!("/account/operators/{below}/role"), &[("role", "none")]).await.says(200, "no more");
        assert!(!staff.is_in().await);
        staff.sign_in("staff@shop.example", crate::api::support::PASSWORD).await.moved("/account");
        staff.get("/account").await.says(200, "You look after no workspace yet");
        assert_eq!(staff.get("/v1/runs").await.status, 403);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'operator.role_changed'";
        assert_eq!(house.number(house.shop.tenant, told).await, 2);
    }

    async fn of_two_owners_who_demote_each_other_one_stays(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let second = house.again(&test, []).await;
        let shop = house.shop.tenant;
        for round in 0..4 {
            let emails = [0, 1].map(|number| format!("o{round}{number}@shop.example"));
            let mut one = house.operator(&emails[0], house.shop.tenant, Role::Owner).await;
            let mut two = second.operator(&emails[1], house.shop.tenant, Role::Owner).await;
            // Whoever is left of the round before goes first.
            let names: Vec<String> = emails.iter().map(|email| email.split('@').next().unwrap().to_owned()).collect();
            let page = one.get("/account/operators").await.text();
            for part in page.split("action=\"/account/operators/").skip(1).filter(|part| part.contains("Role: ")) {
                if names.iter().all(|name| !part.contains(&format!("Role: {name}\""))) {
                    let path = format!("/account/operators/{}/role", part.split('/').next().unwrap());
                    one.submit(&path, &[("role", "none")]).await;
                }
            }
            let paths = [id_of(&mut one, &names[1]).await, id_of(&mut two, &names[0]).await]
                .map(|id| format!("/account/operators/{id}/role"));
            let tokens = [one.token().await, two.token().await];
            let forms = tokens.each_ref().map(|token| [("role", "staff"), ("form", token.as_str())]);
            let (first, last) = tokio::join!(one.post(&paths[0], &forms[0]), two.post(&paths[1], &forms[1]));
            let mut answers = [first.status, last.status];
            answers.sort_unstable();
            assert_eq!(answers[0], 200, "{answers:?}");
            assert_ne!(answers[1], 200, "round {round}: both were demoted");
            let owners = house.db.platform(OPERATORS).write(move |tx| roles::lock_owners(tx, shop)).await.unwrap();
            assert_eq!(owners, 1, "round {round}");
        }
    }

    async fn a_recovery_link_takes_no_more_than_one_governs(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut keeper = house.keeper().await;
        let mut owner = house.operator("owner@shop.example", house.shop.tenant, Role::Owner).await;
        let mut both = house.operator("both@shop.example", house.shop.tenant, Role::Staff).await;
        let id = id_of(&mut owner, "both").await;
        owner.submit(&format!("/account/operators/{id}/link"), &[]).await.says(201, "works once");
        // As soon as the account looks after another tenant, this one's owner can't take it over.
        house.vouch("both@shop.example").await;
        let link = house.invitation("both@shop.example", house.other.tenant, Role::Admin).await;
        both.submit(&format!("/account/link/{link}/accept"), &[]).await.moved("/account");
        owner.submit(&format!("/account/operators/{id}/link"), &[]).await.says(403, "has access to more than you do");
        keeper.submit("/account/workspace", &[("workspace", "shop")]).await.moved("/account");
        keeper.submit(&format!("/account/operators/{id}/link"), &[]).await.says(201, "works once");
        // Nor a keeper's.
        let link = house.invitation("farid@house.example", house.shop.tenant, Role::Viewer).await;
        keeper.submit(&format!("/account/link/{link}/accept"), &[]).await.moved("/account");
        let id = id_of(&mut owner, "Farid").await;
        owner.submit(&format!("/account/operators/{id}/link"), &[]).await.says(403, "has access to more than you do");
    }

    async fn keys_are_made_shown_once_rotated_and_revoked(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let form = [("name", "till"), ("role", "staff"), ("speaks_as", "person"), ("areas", "chat, runs:read"), ("days", "30")];
        let made = asha.submit("/account/keys", &form).await;
        made.says(201, "Keep the key of");
        let key = made.between("<pre class=\"once\">", "</pre>");
        house.get("/v1/runs", &key).await.is(200);
        house.get("/v1/persons", &key).await.refused(403, "forbidden");
        let page = asha.get("/account/keys").await;
        assert!(!page.text().contains(&key) && page.text().contains(&key[..11]));
        asha.submit("/account/keys", &form).await.says(409, "already");
        for (field, bad) in [("role", "emperor"), ("speaks_as", ""), ("speaks_as", "robot"), ("areas", "everything"), ("days", "0"), ("days", "x"), ("name", "")] {
            let wrong: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, if *name == field { bad } else { value })).collect();
            let reply = asha.submit("/account/keys", &wrong).await;
            assert_eq!(reply.status, 422, "{field} {bad}: {}", reply.text());
        }
        let id = page.between("/account/keys/", "/rotate");
        let rotated = asha.submit(&format!("/account/keys/{id}/rotate"), &[]).await;
        let second = rotated.between("<pre class=\"once\">", "</pre>");
        house.get("/v1/runs", &second).await.is(200);
        house.get("/v1/runs", &key).await.is(200);
        asha.submit(&format!("/account/keys/{id}/revoke"), &[]).await.says(200, "till opens nothing any more");
        house.get("/v1/runs", &second).await.refused(401, "unauthenticated");
        assert_eq!(asha.submit(&format!("/account/keys/{id}/rotate"), &[]).await.status, 409);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event LIKE 'api_key.%' AND actor_id LIKE 'operator %'";
        assert_eq!(house.number(house.shop.tenant, told).await, 3);
    }

    async fn keys_end_with_the_role_that_made_them(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut owner = house.operator("owner@shop.example", house.shop.tenant, Role::Owner).await;
        let mut admin = house.operator("admin@shop.example", house.shop.tenant, Role::Admin).await;
        let form = [("name", "till"), ("role", "admin"), ("speaks_as", "program")];
        let key = admin.submit("/account/keys", &form).await.between("<pre class=\"once\">", "</pre>");
        // Also one that was made with that key.
        let new = serde_json::json!({ "name": "more", "role": "staff", "speaks_as": "program" });
        let more = house.post("/v1/keys", &key, new).await.is(201)["text"].as_str().unwrap().to_owned();
        house.get("/v1/runs", &key).await.is(200);
        house.get("/v1/runs", &more).await.is(200);
        let id = id_of(&mut owner, "admin").await;
        owner.submit(&format!("/account/operators/{id}/role"), &[("role", "staff")]).await.says(200, "signs in again");
        house.get("/v1/runs", &key).await.refused(401, "unauthenticated");
        house.get("/v1/runs", &more).await.refused(401, "unauthenticated");
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'api_key.revoked'";
        assert_eq!(house.number(house.shop.tenant, told).await, 2);
    }

    async fn a_rotated_key_ends_with_whoever_was_shown_it(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut owner = house.operator("owner@shop.example", house.shop.tenant, Role::Owner).await;
        let mut admin = house.operator("admin@shop.example", house.shop.tenant, Role::Admin).await;
        let form = [("name", "till"), ("role", "staff"), ("speaks_as", "program")];
        owner.submit("/account/keys", &form).await.says(201, "Keep the key of");
        let id = admin.get("/account/keys").await.between("/account/keys/", "/rotate");
        let rotated = admin.submit(&format!("/account/keys/{id}/rotate"), &[]).await;
        let second = rotated.between("<pre class=\"once\">", "</pre>");
        house.get("/v1/runs", &second).await.is(200);
        let id = id_of(&mut owner, "admin").await;
        owner.submit(&format!("/account/operators/{id}/role"), &[("role", "staff")]).await.says(200, "signs in again");
        house.get("/v1/runs", &second).await.refused(401, "unauthenticated");
    }
}
