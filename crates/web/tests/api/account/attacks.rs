//! What another's page, a planted token or a crafted address can do: nothing.

use munshi_identity::Role;
use munshi_identity::operators::{self, OPERATORS};
use munshi_identity::sign_ins;
use serde_json::json;

use crate::api::support::{Browser, Installation, PASSWORD};

const INVITE: &str = "/account/operators";
const FORM: [(&str, &str); 2] = [("email", "evil@evil.example"), ("role", "owner")];

async fn attempt(browser: &mut Browser<'_>, headers: &[(&str, &str)], token: &str) -> u16 {
    let form: Vec<(&str, &str)> = FORM.into_iter().chain([("form", token)]).collect();
    browser.send("POST", INVITE, headers, Some(&form)).await.status
}

on_both! {
    async fn no_other_page_sends_a_form(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let mut farid = house.operator("farid@shop.example", house.shop.tenant, Role::Owner).await;
        let (own, others) = (asha.token().await, farid.token().await);
        let ours = ("origin", "http://munshi.example");
        assert_eq!(attempt(&mut asha, &[ours], "").await, 403, "without a token");
        assert_eq!(attempt(&mut asha, &[ours], &others).await, 403, "with another's token");
        assert_eq!(attempt(&mut asha, &[ours], &own[1..]).await, 403, "with a part of it");
        for foreign in [
            &[("origin", "https://evil.example")][..],
            &[("origin", "null")],
            &[("origin", "http://munshi.example.evil.example")],
            &[("origin", "http://munshi.example:8443")],
            &[("sec-fetch-site", "cross-site"), ours],
            &[("sec-fetch-site", "same-site"), ours],
        ] {
            assert_eq!(attempt(&mut asha, foreign, &own).await, 403, "{foreign:?}");
        }
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'link.made'";
        assert_eq!(house.number(house.shop.tenant, told).await, 0);
        assert_eq!(attempt(&mut asha, &[ours], &own).await, 201);
        // With `Referrer-Policy: no-referrer` browsers write `null`, and say where the page was all the same.
        assert_eq!(attempt(&mut asha, &[("sec-fetch-site", "same-origin"), ("origin", "null")], &own).await, 201);
        // A token of before the sign-in is good for nothing after.
        asha.submit("/account/sign-out", &[]).await.moved("/account/sign-in");
        asha.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
        assert_eq!(attempt(&mut asha, &[ours], &own).await, 403);
        // Another kind of body is no form.
        let reply = asha.send("POST", INVITE, &[ours, ("content-type", "text/plain")], None).await;
        assert_eq!(reply.status, 422);
    }

    async fn nobody_is_signed_in_by_another_page(test: TestDb) {
        let house = Installation::open(&test, []).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let mut browser = house.browser();
        let form: &[(&str, &str)] = &[("email", "asha@shop.example"), ("password", PASSWORD)];
        for headers in [&[("origin", "https://evil.example")][..], &[("sec-fetch-site", "cross-site")], &[]] {
            let reply = browser.send("POST", "/account/sign-in", headers, Some(form)).await;
            assert_eq!((reply.status, browser.cookies.len()), (403, 0), "{headers:?}");
        }
    }

    async fn a_planted_token_is_never_raised(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut evil = house.operator("evil@other.example", house.other.tenant, Role::Viewer).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let planted = evil.cookies["munshi_sign_in"].clone();
        let made_up = "a".repeat(43);
        for token in [planted.clone(), made_up] {
            let mut victim = house.browser();
            victim.cookies.insert("munshi_sign_in".to_owned(), token.clone());
            victim.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
            assert_ne!(victim.cookies["munshi_sign_in"], token);
            assert!(victim.is_in().await);
        }
        assert!(!evil.is_in().await, "what was planted ended with the sign-in");
        evil.cookies.insert("munshi_sign_in".to_owned(), planted);
        assert!(!evil.is_in().await);
    }

    async fn the_way_on_stays_here(test: TestDb) {
        let house = Installation::open(&test, []).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        for (asked, given) in [
            ("/account/keys", "/account/keys"),
            ("//evil.example", "/account"),
            ("/\\evil.example", "/account"),
            ("https://evil.example/account", "/account"),
            ("/\t/evil.example", "/account"),
            ("javascript:alert(1)", "/account"),
            ("/account\r\nset-cookie: a=b", "/account"),
        ] {
            let mut browser = house.browser();
            let form = [("email", "asha@shop.example"), ("password", PASSWORD), ("next", asked)];
            browser.post("/account/sign-in", &form).await.moved(given);
            let path = format!("/account/sign-in?next={}", crate::api::support::encoded(asked));
            browser.get(&path).await.moved(given);
            let page = house.browser().get(&path).await;
            assert_eq!(page.between("name=\"next\" value=\"", "\""), given);
        }
        house.browser().get("/account/keys?a=1").await.moved("/account/sign-in?next=%2Faccount%2Fkeys%3Fa%3D1");
    }

    async fn a_browser_uses_the_api_from_our_own_pages_alone(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Admin).await;
        let token = asha.token().await;
        let runs = asha.get("/v1/runs").await;
        assert_eq!(runs.status, 200, "{}", runs.text());
        let ours = ("origin", "http://munshi.example");
        let body = json!({ "name": "till", "role": "staff", "speaks_as": "person" }).to_string();
        let post = async |headers: &[(&str, &str)]| {
            let mut request = axum::http::Request::post("/v1/keys").header("host", "munshi.example");
            request = request.header("content-type", "application/json");
            request = request.header("cookie", format!("munshi_sign_in={}", asha.cookies["munshi_sign_in"]));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            house.send(request.body(axum::body::Body::from(body.clone())).unwrap()).await.status().as_u16()
        };
        assert_eq!(post(&[ours]).await, 403, "without the token");
        assert_eq!(post(&[ours, ("x-munshi-form", "x")]).await, 403);
        assert_eq!(post(&[("origin", "https://evil.example"), ("x-munshi-form", &token)]).await, 403);
        assert_eq!(post(&[ours, ("x-munshi-form", &token), ("x-munshi-tenant", "other")]).await, 403, "another tenant");
        assert_eq!(post(&[ours, ("x-munshi-form", &token), ("authorization", "Bearer mk_x")]).await, 401, "a bad key is not passed over");
        assert_eq!(post(&[ours, ("x-munshi-form", &token), ("x-munshi-tenant", "shop")]).await, 201);
        let foreign = asha.send("GET", "/v1/runs", &[("sec-fetch-site", "cross-site")], None).await;
        assert_eq!(foreign.status, 403);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'api_key.made' AND actor_id LIKE 'operator %'";
        assert_eq!(house.number(house.shop.tenant, told).await, 1);
        // A viewer reads, and no more.
        let mut viewer = house.operator("vik@shop.example", house.shop.tenant, Role::Viewer).await;
        assert_eq!(viewer.get("/v1/runs").await.status, 200);
        assert_eq!(viewer.get("/v1/keys").await.status, 403);
    }

    async fn a_sign_in_ends_when_nobody_comes(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let half = sign_ins::IDLE / 2;
        test.clock.advance(half);
        assert!(asha.is_in().await);
        test.clock.advance(half);
        assert!(asha.is_in().await, "seen since");
        test.clock.advance(sign_ins::IDLE);
        assert!(!asha.is_in().await);
        assert_eq!(asha.get("/v1/runs").await.status, 401);
    }

    async fn a_proof_ends_also_who_is_just_coming_in(test: TestDb) {
        let house = Installation::open_with_slow_passwords(&test).await;
        let (email, good) = ("asha@shop.example", "another good password");
        let mut posing = house.operator(email, house.shop.tenant, Role::Owner).await;
        let began = std::time::Instant::now();
        house.browser().sign_in(email, PASSWORD).await.moved("/account");
        // The slow hash takes up nearly all of it.
        let half = began.elapsed() / 2;
        let found = house.db.platform(OPERATORS).read(move |tx| operators::find_by_email(tx, email)).await.unwrap().unwrap();
        let (id, now, token) = (found.id, house.now(), posing.token().await);
        let mut late = house.browser();
        let form = [("current", PASSWORD), ("new", good), ("again", good), ("form", token.as_str())];
        let proof = async {
            tokio::time::sleep(half).await;
            house.db.platform(OPERATORS).write(move |tx| operators::mark_verified(tx, id, now)).await.unwrap()
        };
        let (changed, came, proved) =
            tokio::join!(posing.post("/account/password", &form), late.sign_in(email, PASSWORD), proof);
        assert!(proved, "{} {}", changed.status, came.status);
        assert!(!posing.is_in().await && !late.is_in().await, "{} {}", changed.status, came.status);
        for password in [PASSWORD, good] {
            assert_eq!(house.browser().at(9).sign_in(email, password).await.status, 401);
        }
    }
}
