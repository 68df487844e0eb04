//! What hosts say of their visitors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use munshi_identity::hosts::{
    self, HostError, HostKeySource, HostKeyValueKind, HostTokenVerifier, HostVisitor, NewHostKey,
};
use munshi_identity::jwt::{JwtAlgorithm, JwtError};
use munshi_identity::{ContactAddress, Error};
use munshi_test_support::{TestDb, administer, on_both_engines};
use munshi_types::{TenantId, Timestamp};
use serde_json::{Value, json};
use zeroize::Zeroizing;

/// When the tokens were made.
const THEN: Timestamp = Timestamp::from_micros(1_700_000_100_000_000);

fn made() -> Value {
    serde_json::from_str(include_str!("../jwt/pyjwt.json")).unwrap()
}

fn case(algorithm: &str) -> Value {
    let made = made();
    made["cases"].as_array().unwrap().iter().find(|case| case["alg"] == algorithm).unwrap().clone()
}

fn token(algorithm: &str) -> String {
    case(algorithm)["token"].as_str().unwrap().to_owned()
}

#[derive(Default)]
struct World {
    reads: AtomicUsize,
    empty: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl HostKeySource for World {
    async fn load_secret(&self, _: TenantId, name: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        match name {
            "widget.key" => Ok(Zeroizing::new(made()["secret"].as_str().unwrap().as_bytes().to_vec())),
            other => Err(format!("there is no secret called {other}")),
        }
    }

    async fn fetch_published(&self, address: &str) -> Result<String, String> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        match address {
            "https://shop.example/keys" if self.empty.load(Ordering::SeqCst) => {
                Ok(json!({ "keys": [] }).to_string())
            }
            "https://shop.example/keys" => {
                let key = |algorithm: &str| {
                    let mut jwk = case(algorithm)["jwk"].clone();
                    jwk["kid"] = json!(format!("k-{algorithm}"));
                    jwk
                };
                Ok(json!({ "keys": [{ "kty": "oct", "kid": "x" }, key("RS256"), key("ES256")] }).to_string())
            }
            _ => Err("nobody answers".to_owned()),
        }
    }
}

fn new(algorithm: JwtAlgorithm, holds: HostKeyValueKind, value: &str) -> NewHostKey {
    NewHostKey {
        kid: format!("k-{algorithm}"),
        host: "shop".to_owned(),
        algorithm,
        holds,
        value: value.to_owned(),
    }
}

async fn add(test: &TestDb, tenant: TenantId, key: NewHostKey) -> Result<(), Error> {
    test.db.write(tenant, move |tx| administer(tx, |tx| hosts::add(tx, &key, THEN))).await.map(|_| ())
}

async fn ask(hosts: &HostTokenVerifier, tenant: TenantId, text: &str) -> Result<HostVisitor, HostError> {
    hosts.verify(tenant, "counter", text, THEN).await
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];

    async fn a_host_vouches_for_its_visitor(test: TestDb) {
        let (shop, clinic) = (test.add_tenant("shop").await, test.add_tenant("clinic").await);
        let hosts = HostTokenVerifier::new(test.db.clone(), Arc::new(World::default()));
        add(&test, shop, new(JwtAlgorithm::Hs256, HostKeyValueKind::Secret, "widget.key")).await.unwrap();
        add(&test, shop, new(JwtAlgorithm::EdDsa, HostKeyValueKind::Public, &case("EdDSA")["jwk"].to_string())).await.unwrap();
        for algorithm in ["HS256", "EdDSA"] {
            let visitor = ask(&hosts, shop, &token(algorithm)).await.unwrap();
            assert_eq!((visitor.host.as_str(), visitor.subject.as_str()), ("shop", "visitor-7"));
            assert_eq!(visitor.phone, Some(ContactAddress::phone("9812345678").unwrap()));
            assert_eq!(visitor.email, Some(ContactAddress::email("asha@shop.example").unwrap()));
            assert_eq!((visitor.name.as_deref(), visitor.language.unwrap().code()), (Some("Asha"), "hi"));
            assert_eq!(visitor.address().unwrap().as_str(), "host:shop/visitor-7");
        }
        let other = ask(&hosts, clinic, &token("HS256")).await;
        assert!(matches!(other, Err(HostError::Distrust(JwtError::UnknownKey(_)))), "another tenant's key: {other:?}");
        let elsewhere = hosts.verify(shop, "back", &token("HS256"), THEN).await;
        assert!(matches!(elsewhere, Err(HostError::Distrust(JwtError::Audience(_)))), "{elsewhere:?}");
        for (moment, why) in [
            (THEN.plus(Duration::from_secs(560)), JwtError::Expired),
            (THEN.minus(Duration::from_secs(161)), JwtError::Future),
        ] {
            let stale = hosts.verify(shop, "counter", &token("HS256"), moment).await;
            assert!(matches!(&stale, Err(HostError::Distrust(said)) if *said == why), "{stale:?}");
        }
        let confused = made()["confused"].as_str().unwrap().to_owned();
        assert!(ask(&hosts, shop, &confused).await.is_err());
        for bad in ["", "a.b.c", "..", &token("HS256")[1..]] {
            assert!(matches!(ask(&hosts, shop, bad).await, Err(HostError::Distrust(_))), "{bad}");
        }
    }

    async fn keys_follow_each_other(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let hosts = HostTokenVerifier::new(test.db.clone(), Arc::new(World::default()));
        let ed = || new(JwtAlgorithm::EdDsa, HostKeyValueKind::Public, &case("EdDSA")["jwk"].to_string());
        add(&test, shop, new(JwtAlgorithm::Hs256, HostKeyValueKind::Secret, "widget.key")).await.unwrap();
        add(&test, shop, ed()).await.unwrap();
        let third = new(JwtAlgorithm::Es256, HostKeyValueKind::Public, &case("ES256")["jwk"].to_string());
        assert!(matches!(add(&test, shop, third.clone()).await, Err(Error::Invalid(_))), "two at once");
        assert!(ask(&hosts, shop, &token("HS256")).await.is_ok() && ask(&hosts, shop, &token("EdDSA")).await.is_ok());
        let retired = test.db.write(shop, |tx| administer(tx, |tx| hosts::retire(tx, "k-HS256", THEN))).await.unwrap().unwrap();
        assert!(!retired.is_live(THEN));
        let gone = ask(&hosts, shop, &token("HS256")).await;
        assert!(matches!(gone, Err(HostError::Distrust(JwtError::UnknownKey(_)))), "{gone:?}");
        // It ends no later than was said.
        let later = THEN.plus(Duration::from_secs(60));
        let again = test.db.write(shop, move |tx| administer(tx, |tx| hosts::retire(tx, "k-HS256", later))).await.unwrap().unwrap();
        assert_eq!(again.ends_at, Some(THEN));
        assert!(test.db.write(shop, |tx| administer(tx, |tx| hosts::retire(tx, "nothing", THEN))).await.unwrap().is_none());
        add(&test, shop, third).await.unwrap();
        assert!(ask(&hosts, shop, &token("ES256")).await.is_ok());
        assert!(matches!(add(&test, shop, NewHostKey { host: "other".to_owned(), ..ed() }).await, Err(Error::NameTaken(_))));
    }

    async fn published_keys_are_read_when_one_is_missing_and_not_for_every_stranger(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let world = Arc::new(World::default());
        let hosts = HostTokenVerifier::new(test.db.clone(), world.clone());
        let address = NewHostKey { kid: "ours".to_owned(), ..new(JwtAlgorithm::Rs256, HostKeyValueKind::Address, "https://shop.example/keys") };
        add(&test, shop, address).await.unwrap();
        world.empty.store(true, Ordering::SeqCst);
        assert!(ask(&hosts, shop, &token("RS256")).await.is_err());
        world.empty.store(false, Ordering::SeqCst);
        assert!(ask(&hosts, shop, &token("RS256")).await.is_err(), "not read again so soon");
        assert_eq!(world.reads.load(Ordering::SeqCst), 1);
        let later = THEN.plus(Duration::from_secs(61));
        assert!(hosts.verify(shop, "counter", &token("RS256"), later).await.is_ok(), "a rotated key is found");
        for _ in 0..20 {
            assert!(hosts.verify(shop, "counter", &token("RS256"), later).await.is_ok());
            let other = hosts.verify(shop, "counter", &token("ES256"), later).await;
            assert!(matches!(other, Err(HostError::Distrust(_))), "published, but not for this algorithm: {other:?}");
        }
        assert_eq!(world.reads.load(Ordering::SeqCst), 2);
    }

    async fn a_key_that_makes_no_sense_is_refused(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let jwk = case("ES256")["jwk"].to_string();
        for bad in [
            NewHostKey { kid: "a b".to_owned(), ..new(JwtAlgorithm::Hs256, HostKeyValueKind::Secret, "x") },
            NewHostKey { host: String::new(), ..new(JwtAlgorithm::Hs256, HostKeyValueKind::Secret, "x") },
            new(JwtAlgorithm::Rs256, HostKeyValueKind::Secret, "x"),
            new(JwtAlgorithm::Hs256, HostKeyValueKind::Public, &jwk),
            new(JwtAlgorithm::Hs256, HostKeyValueKind::Address, "https://shop.example"),
            new(JwtAlgorithm::Rs256, HostKeyValueKind::Public, &jwk),
            new(JwtAlgorithm::Es256, HostKeyValueKind::Public, "{}"),
            new(JwtAlgorithm::Es256, HostKeyValueKind::Address, "http://shop.example/keys"),
            new(JwtAlgorithm::Es256, HostKeyValueKind::Address, "file:///etc/passwd"),
        ] {
            assert!(matches!(add(&test, shop, bad.clone()).await, Err(Error::Invalid(_))), "{bad:?}");
        }
        let missing = HostTokenVerifier::new(test.db.clone(), Arc::new(World::default()));
        add(&test, shop, new(JwtAlgorithm::Hs256, HostKeyValueKind::Secret, "gone")).await.unwrap();
        assert!(matches!(ask(&missing, shop, &token("HS256")).await, Err(HostError::Unavailable(_))));
    }
}
