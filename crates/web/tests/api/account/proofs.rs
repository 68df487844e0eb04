//! What sign-in and hosts prove at the door for people.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use munshi_identity::hosts::{self, HostKeySource, HostKeyValueKind, HostTokenVerifier, NewHostKey};
use munshi_identity::jwt::JwtAlgorithm;
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_store::Tx;
use munshi_types::{PersonId, TenantId, Timestamp};
use munshi_web::ApiErrorCode;
use munshi_web::account::authenticator::SignInAuthenticator;
use munshi_web::visitor::authenticator::{VisitorAuthenticator, VisitorSeat};
use zeroize::Zeroizing;

use serde_json::{Value, json};

use crate::api::support::{Browser, HOST_SECRET, Installation, claims, signed};

/// When the tokens were made.
const THEN: Timestamp = Timestamp::from_micros(1_700_000_100_000_000);

fn made() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../../identity/tests/jwt/pyjwt.json")).unwrap()
}

struct Vault;

#[async_trait]
impl HostKeySource for Vault {
    async fn load_secret(&self, _: TenantId, _: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        Ok(Zeroizing::new(made()["secret"].as_str().unwrap().as_bytes().to_vec()))
    }

    async fn fetch_published(&self, _: &str) -> Result<String, String> {
        Err("nobody answers".to_owned())
    }
}

fn proven(test: &munshi_test_support::TestDb) -> SignInAuthenticator {
    SignInAuthenticator {
        db: test.db.clone(),
        clock: test.clock.clone(),
        ids: test.ids.clone(),
        hosts: HostTokenVerifier::new(test.db.clone(), Arc::new(Vault)),
        public_url: None,
    }
}

fn sent(browser: &Browser<'_>, more: &[(&'static str, &'static str)]) -> HeaderMap {
    let pairs: Vec<String> = browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut headers = HeaderMap::from_iter([(axum::http::header::COOKIE, pairs.join("; ").parse().unwrap())]);
    headers.extend(
        more.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))),
    );
    headers
}

async fn add(house: &Installation, tenant: TenantId, person: Person, email: &str) -> PersonId {
    let (id, address) = (person.id, ContactAddress::email(email).unwrap());
    let unit = move |tx: &mut Tx<'_>| {
        persons::upsert(tx, &person)?;
        persons::add_address(tx, person.id, &address)
    };
    house.db.write(tenant, unit).await.unwrap();
    id
}

on_both! {
    async fn a_host_vouches_for_visitors_and_for_nobody_who_works_there(test: TestDb) {
        test.clock.set(THEN);
        let house = Installation::open(&test, []).await;
        let (proven, tenant) = (proven(&test), house.shop.tenant);
        let token = made()["cases"][0]["token"].as_str().unwrap().to_owned();
        let unknown = proven.authenticate_host_token(tenant, "counter", &token).await.unwrap_err();
        assert_eq!(unknown.code(), ApiErrorCode::Unauthenticated);
        let key = NewHostKey {
            kid: "k-HS256".to_owned(),
            host: "app".to_owned(),
            algorithm: JwtAlgorithm::Hs256,
            holds: HostKeyValueKind::Secret,
            value: "widget".to_owned(),
        };
        house.db.write(tenant, move |tx| munshi_test_support::administer(tx, |tx| hosts::add(tx, &key, THEN))).await.unwrap();
        let person = proven.authenticate_host_token(tenant, "counter", &token).await.unwrap();
        assert_eq!(proven.authenticate_host_token(tenant, "counter", &token).await.unwrap(), person, "the same each time");
        let found = house.db.read(tenant, move |tx| persons::find(tx, person)).await.unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.language.unwrap().code(), found.role), ("Asha", "hi", None));
        for (tenant, binding) in [(tenant, "back"), (house.other.tenant, "counter")] {
            assert_eq!(proven.authenticate_host_token(tenant, binding, &token).await.unwrap_err().code(), ApiErrorCode::Unauthenticated);
        }
        // As soon as they work here, the host's word is not enough.
        let hired = Person { role: Some(Role::Owner), ..found };
        house.db.write(tenant, move |tx| persons::upsert(tx, &hired)).await.unwrap();
        assert_eq!(proven.authenticate_host_token(tenant, "counter", &token).await.unwrap_err().code(), ApiErrorCode::Forbidden);
    }

    async fn forged_and_stale_tokens_of_a_host_are_refused_at_the_door(test: TestDb) {
        let house = Installation::open(&test, []).await;
        house.host_key().await;
        let ask = async |place: &str, token: &str| {
            let request = axum::http::Request::get(format!("/visit/{place}")).header("host", "chat.example");
            let request = request.header("origin", "https://shop.example").header("authorization", format!("Bearer {token}"));
            house.send(request.body(axum::body::Body::empty()).unwrap()).await.status().as_u16()
        };
        let good = house.host_token();
        assert_eq!(ask("shop-front", &good).await, 200);
        let header = json!({ "alg": "HS256", "kid": "one" });
        let with = |key: &str, value: Value| {
            let mut changed = claims(house.now());
            changed[key] = value;
            changed
        };
        let now = claims(house.now())["iat"].as_i64().unwrap();
        let (head, mark) = (good.split('.').next().unwrap(), good.rsplit('.').next().unwrap());
        let others = signed(&header, &with("sub", json!("c-1")), HOST_SECRET);
        let body = others.split('.').nth(1).unwrap();
        for (forged, what) in [
            (signed(&header, &claims(house.now()), b"another secret that somebody guessed"), "another secret"),
            (signed(&header, &claims(house.now()), b""), "no secret"),
            (format!("{head}.{body}.{mark}"), "another's claims under a good mark"),
            (format!("{head}.{body}."), "no mark"),
            (signed(&json!({ "alg": "none", "kid": "one" }), &claims(house.now()), HOST_SECRET), "no algorithm"),
            (signed(&json!({ "alg": "RS256", "kid": "one" }), &claims(house.now()), HOST_SECRET), "another algorithm"),
            (signed(&json!({ "alg": "HS256", "kid": "two" }), &claims(house.now()), HOST_SECRET), "a key nobody gave"),
            (signed(&json!({ "alg": "HS256" }), &claims(house.now()), HOST_SECRET), "a key nobody names"),
            (signed(&header, &with("aud", json!("counter")), HOST_SECRET), "for another binding"),
            (signed(&header, &with("sub", json!("")), HOST_SECRET), "for nobody"),
            (signed(&header, &with("iat", json!(now - 2 * 60 * 60)), HOST_SECRET), "of two hours ago"),
            (signed(&header, &with("iat", json!(now + 60 * 60)), HOST_SECRET), "of the hour to come"),
            (signed(&header, &with("exp", json!(now - 120)), HOST_SECRET), "whose own time is over"),
        ] {
            assert_eq!(ask("shop-front", &forged).await, 401, "{what}");
        }
        assert_eq!(ask("other-front", &good).await, 403, "nor does the host's page reach another tenant");
        test.clock.advance(std::time::Duration::from_secs(2 * 60 * 60));
        assert_eq!(ask("shop-front", &good).await, 401, "it has gone stale");
    }

    async fn an_operator_is_nobody_who_stands_higher(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (proven, tenant, now) = (proven(&test), house.shop.tenant, house.now());
        let keeper = house.keeper().await;
        let asha = house.operator("asha@shop.example", tenant, Role::Staff).await;
        let ours = [("sec-fetch-site", "same-origin")];
        let person = proven.find_signed_in(tenant, &sent(&asha, &ours), VisitorSeat::Elsewhere).await.unwrap().unwrap();
        assert_eq!(proven.find_signed_in(tenant, &sent(&asha, &ours), VisitorSeat::Elsewhere).await.unwrap(), Some(person));
        let found = house.db.read(tenant, move |tx| persons::find(tx, person)).await.unwrap().unwrap();
        assert_eq!(found.role, Some(Role::Staff), "with the rights of their role");
        assert_eq!(proven.find_signed_in(house.other.tenant, &sent(&asha, &ours), VisitorSeat::Elsewhere).await.unwrap(), None, "another tenant");
        assert_eq!(proven.find_signed_in(tenant, &sent(&asha, &[("sec-fetch-site", "cross-site")]), VisitorSeat::Elsewhere).await.unwrap(), None);
        assert_eq!(proven.find_signed_in(tenant, &HeaderMap::new(), VisitorSeat::Elsewhere).await.unwrap(), None);
        // Whoever has the e-mail of an owner is not the owner.
        let owner = Person { role: Some(Role::Owner), ..Person::new(&house.ids, "Owner", now) };
        let high = add(&house, tenant, owner, "owner@shop.example").await;
        let posing = house.operator("owner@shop.example", tenant, Role::Admin).await;
        let posed = proven.find_signed_in(tenant, &sent(&posing, &ours), VisitorSeat::Elsewhere).await.unwrap().unwrap();
        let found = house.db.read(tenant, move |tx| persons::find(tx, posed)).await.unwrap().unwrap();
        assert_eq!((found.role, posed == high), (Some(Role::Admin), false), "they are an admin of their own");
        assert!(proven.is_keeper(&sent(&keeper, &ours), VisitorSeat::Elsewhere).await.unwrap());
        assert!(!proven.is_keeper(&sent(&asha, &ours), VisitorSeat::Elsewhere).await.unwrap());
        assert!(!proven.is_keeper(&sent(&keeper, &[("origin", "https://evil.example")]), VisitorSeat::Elsewhere).await.unwrap());
    }
}
