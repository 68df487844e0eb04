//! Tokens made by another library (PyJWT), and what people do to them.

use std::time::Duration;

use munshi_types::Timestamp;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

#[derive(Deserialize)]
struct Made {
    secret: String,
    cases: Vec<Case>,
    /// An RSA public key's text used as a shared secret.
    confused: String,
}

#[derive(Deserialize)]
struct Case {
    alg: JwtAlgorithm,
    pem: Option<String>,
    jwk: Option<Value>,
    token: String,
}

fn made() -> Made {
    serde_json::from_str(include_str!("../../tests/jwt/pyjwt.json")).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

const EXPECTED: ClaimRequirements<'_> = ClaimRequirements {
    issuer: None,
    audience: "counter",
    leeway: Duration::from_secs(60),
    max_age: Duration::from_secs(3600),
};

fn keys(made: &Made) -> Vec<VerificationKey> {
    let key = |case: &Case| match &case.jwk {
        Some(jwk) => serde_json::from_value::<Jwk>(jwk.clone()).unwrap().to_verification_key().unwrap(),
        None => VerificationKey::from_secret(made.secret.as_bytes()).unwrap(),
    };
    made.cases.iter().map(key).collect()
}

#[test]
fn every_kind_of_key_believes_its_own_tokens_and_no_others() {
    let made = made();
    let keys = keys(&made);
    assert_eq!(keys.len(), JwtAlgorithm::ALL.len());
    for (place, case) in made.cases.iter().enumerate() {
        let token = UnverifiedJwt::read(&case.token).unwrap();
        for (other, key) in keys.iter().enumerate() {
            let answer = token.verify(key);
            if place == other {
                let claims = answer.unwrap();
                assert_eq!(
                    (claims.sub.as_deref(), claims.name.as_deref()),
                    (Some("visitor-7"), Some("Asha"))
                );
                assert_eq!(claims.check(&EXPECTED, at(1_700_000_100)), Ok(()));
            } else {
                assert!(matches!(answer, Err(JwtError::Algorithm { .. })), "{answer:?}");
            }
        }
    }
}

#[test]
fn a_public_key_is_read_from_the_text_openssl_writes() {
    for case in made().cases {
        let Some(pem) = case.pem else { continue };
        let key = from_pem(&pem).unwrap().to_verification_key().unwrap();
        assert_eq!(key.algorithm(), case.alg);
        UnverifiedJwt::read(&case.token).unwrap().verify(&key).unwrap();
        let lines: Vec<&str> = pem.lines().collect();
        let short = [&lines[..lines.len() - 2], &lines[lines.len() - 1..]].concat().join("\n");
        for bad in [pem.replace("PUBLIC", "PRIVATE"), short, pem.replace("-----END", "AAAA\n-----END")] {
            assert!(from_pem(&bad).is_none(), "{bad}");
        }
    }
}

#[test]
fn no_key_is_confused_with_another_kind_of_it() {
    let made = made();
    let token = UnverifiedJwt::read(&made.confused).unwrap();
    for key in keys(&made) {
        assert!(token.verify(&key).is_err(), "{key:?}");
    }
    // A secret that is published as a key is none.
    let secret = json!({ "kty": "oct", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY" });
    assert!(serde_json::from_value::<Jwk>(secret).unwrap().to_verification_key().is_none());
    assert!(VerificationKey::from_secret(b"too short").is_none());
}

fn with(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let part = |value: &Value| base64url::encode(value.to_string().as_bytes());
    let signed = format!("{}.{}", part(header), part(claims));
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
    format!("{signed}.{}", base64url::encode(ring::hmac::sign(&key, signed.as_bytes()).as_ref()))
}

#[test]
fn none_is_no_algorithm_and_headers_ask_for_nothing() {
    let secret = [7; 32];
    let key = VerificationKey::from_secret(&secret).unwrap();
    let claims = json!({ "aud": "counter", "iat": 1_700_000_000, "sub": "x" });
    for alg in ["none", "None", "NONE", "nOnE", "", "HS384", "hs256", "RS256"] {
        let token = with(&json!({ "alg": alg }), &claims, &secret);
        let unsigned = format!("{}.", token.rsplit_once('.').unwrap().0);
        for text in [token, unsigned] {
            let answer = UnverifiedJwt::read(&text).and_then(|token| token.verify(&key));
            assert!(answer.is_err(), "{alg}: {answer:?}");
        }
    }
    for header in [
        json!({ "alg": "HS256", "crit": ["b64"] }),
        json!({ "alg": "HS256", "b64": false }),
        json!({ "alg": "HS256", "enc": "A128GCM" }),
        json!({ "kid": "x" }),
        json!("HS256"),
    ] {
        assert!(UnverifiedJwt::read(&with(&header, &claims, &secret)).is_err(), "{header}");
    }
    let good = with(&json!({ "alg": "HS256" }), &claims, &secret);
    assert!(UnverifiedJwt::read(&good).unwrap().verify(&key).is_ok());
    for bad in [format!("{good}="), format!("{good}."), format!("x.{good}"), good.replace('.', "")] {
        let answer = UnverifiedJwt::read(&bad).and_then(|token| token.verify(&key));
        assert!(answer.is_err(), "{bad}");
    }
}

#[test]
fn a_token_is_for_somebody_and_for_a_time() {
    let now = 1_700_000_000;
    let claims = |value: Value| serde_json::from_value::<JwtClaims>(value);
    let check = |value: Value| claims(value).unwrap().check(&EXPECTED, at(now));
    assert_eq!(check(json!({ "aud": ["a", "counter"], "iat": now, "exp": now + 5 })), Ok(()));
    assert_eq!(check(json!({ "aud": "counter", "iat": now - 3600 })), Ok(()));
    for (value, why) in [
        (json!({ "iat": now }), JwtError::Audience("counter".to_owned())),
        (json!({ "aud": "other", "iat": now }), JwtError::Audience("counter".to_owned())),
        (json!({ "aud": "counter" }), JwtError::Missing("`iat` (issued at)")),
        (json!({ "aud": "counter", "iat": now - 3660 }), JwtError::Expired),
        (json!({ "aud": "counter", "iat": now, "exp": now - 60 }), JwtError::Expired),
        (json!({ "aud": "counter", "iat": now - 4000, "exp": now + 9_999_999 }), JwtError::Expired),
        (json!({ "aud": "counter", "iat": now + 61 }), JwtError::Future),
        (json!({ "aud": "counter", "iat": now, "nbf": now + 61 }), JwtError::Future),
    ] {
        assert_eq!(check(value.clone()), Err(why), "{value}");
    }
    let issuer = ClaimRequirements { issuer: Some("https://id.example"), ..EXPECTED };
    let said = claims(json!({ "aud": "counter", "iat": now, "iss": "https://id.example/" })).unwrap();
    assert_eq!(said.check(&issuer, at(now)), Err(JwtError::Issuer));
    // A time that is no number refuses the token; it is not passed over.
    for value in [json!("1700000600"), json!(-1), json!(1e300), json!(null), json!([1])] {
        let read = claims(json!({ "aud": "counter", "iat": now, "exp": value }));
        assert!(read.is_err() || value.is_null(), "{value}");
    }
}

proptest! {
    #[test]
    fn whatever_is_sent_is_refused(text in "[A-Za-z0-9_.-]{0,200}") {
        let key = VerificationKey::from_secret(&[7; 32]).unwrap();
        let answer = UnverifiedJwt::read(&text).and_then(|token| token.verify(&key));
        prop_assert!(answer.is_err());
    }

    #[test]
    fn no_letter_of_a_token_can_be_another(which in 0_usize..4, at in 0_usize..400, letter in "[A-Za-z0-9_-]") {
        let made = made();
        let (case, key) = (&made.cases[which], &keys(&made)[which]);
        let at = at % case.token.len();
        prop_assume!(!case.token[at..].starts_with(&letter));
        let changed = format!("{}{letter}{}", &case.token[..at], &case.token[at + 1..]);
        let answer = UnverifiedJwt::read(&changed).and_then(|token| token.verify(key));
        prop_assert!(answer.is_err(), "{changed}");
    }

    #[test]
    fn no_public_key_makes_it_fall_over(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        use base64::Engine;
        let body = base64::engine::general_purpose::STANDARD.encode(bytes);
        from_pem(&format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----"));
    }
}
