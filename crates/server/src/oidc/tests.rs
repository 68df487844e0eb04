//! A service that lies: each time in another way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_identity::SecretToken;
use munshi_types::{SystemRandom, Timestamp};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
const SECONDS: i64 = 1_700_000_000;

/// What it answers with, by path.
#[derive(Default)]
struct Said {
    discovery: Value,
    keys: Value,
    token: Value,
    userinfo: Value,
}

/// A service on a loopback port, for as long as the test runs.
struct Liar {
    said: Arc<Mutex<Said>>,
    issuer: String,
    key: ring_key::Signer,
    _serving: tokio::task::JoinSet<()>,
}

/// Signs as services do.
mod ring_key {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as ENCODING;
    use ring::rand::SystemRandom;
    use ring::signature::{Ed25519KeyPair, KeyPair};
    use serde_json::{Value, json};

    pub(super) struct Signer(Ed25519KeyPair);

    impl Signer {
        pub(super) fn new() -> Self {
            let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
            Self(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
        }

        pub(super) fn jwk(&self, kid: &str) -> Value {
            json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "x": ENCODING.encode(self.0.public_key().as_ref()) })
        }

        pub(super) fn sign(&self, kid: &str, claims: &Value) -> String {
            let part = |value: &Value| ENCODING.encode(value.to_string());
            let signed = format!("{}.{}", part(&json!({ "alg": "EdDSA", "kid": kid })), part(claims));
            let signature = ENCODING.encode(self.0.sign(signed.as_bytes()).as_ref());
            format!("{signed}.{signature}")
        }
    }
}

impl Liar {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let key = ring_key::Signer::new();
        let said = Arc::new(Mutex::new(Said {
            discovery: json!({
                "issuer": issuer,
                "authorization_endpoint": format!("{issuer}/auth"),
                "token_endpoint": format!("{issuer}/token"),
                "userinfo_endpoint": format!("{issuer}/me"),
                "jwks_uri": format!("{issuer}/keys"),
            }),
            keys: json!({ "keys": [key.jwk("one")] }),
            ..Said::default()
        }));
        let mut serving = tokio::task::JoinSet::new();
        serving.spawn(serve(listener, said.clone()));
        Self { said, issuer, key, _serving: serving }
    }

    fn service(&self) -> OidcClient {
        let settings = OidcSettings {
            issuer: self.issuer.clone(),
            client_id: "munshi".to_owned(),
            client_secret: None,
            domains: Vec::new(),
            newcomers: None,
        };
        OidcClient::new(settings, OutboundHttpClient::new().unwrap())
    }

    fn claims(&self, token: &SecretToken) -> Value {
        json!({
            "iss": self.issuer, "sub": "7", "aud": "munshi", "iat": SECONDS, "exp": SECONDS + 300,
            "nonce": token.derive(NONCE), "email": "Asha@shop.example", "email_verified": true,
        })
    }

    async fn finish(&self, token: &SecretToken, id_token: String) -> Result<OidcIdentity, OidcError> {
        self.said.lock().unwrap().token = json!({ "id_token": id_token, "access_token": "a" });
        let state = token.derive(STATE);
        self.service().finish(token, ("code", &state), "http://here/back", NOW).await
    }
}

async fn serve(listener: TcpListener, said: Arc<Mutex<Said>>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let mut request = vec![0; 16 * 1024];
        let length = stream.read(&mut request).await.unwrap_or(0);
        let head = String::from_utf8_lossy(&request[..length]).into_owned();
        let body = {
            let said = said.lock().unwrap();
            let path = head.split(' ').nth(1).unwrap_or_default();
            match path {
                "/keys" => said.keys.clone(),
                "/token" => said.token.clone(),
                "/me" => said.userinfo.clone(),
                _ => said.discovery.clone(),
            }
        }
        .to_string();
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        let _gone = stream.write_all(answer.as_bytes()).await;
    }
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

#[tokio::test]
async fn a_true_word_is_believed() {
    let (liar, token) = (Liar::new().await, SecretToken::random(&SystemRandom));
    let to = liar.service().build_authorization_url(&token, "http://here/back", NOW).await.unwrap();
    assert!(to.starts_with(&format!(
        "{}/auth?response_type=code&client_id=munshi&redirect_uri=http%3A%2F%2Fhere",
        liar.issuer
    )));
    assert!(
        to.contains(&format!("state={}", token.derive(STATE))) && to.contains("code_challenge_method=S256")
    );
    assert!(!to.contains(&token.derive(VERIFIER)) && !to.contains(token.reveal()), "{to}");
    let who = liar.finish(&token, liar.key.sign("one", &liar.claims(&token))).await.unwrap();
    assert_eq!((who.subject.as_str(), who.email.as_deref()), ("7", Some("asha@shop.example")));
}

#[tokio::test]
async fn no_lie_is() {
    let (liar, token) = (Liar::new().await, SecretToken::random(&SystemRandom));
    let good = liar.claims(&token);
    let lies = [
        ("iss", json!("https://evil.example")),
        ("aud", json!("other")),
        ("aud", json!(["munshi", "other"])),
        ("azp", json!("other")),
        ("nonce", json!("x")),
        ("nonce", Value::Null),
        ("exp", json!(SECONDS - 61)),
        ("exp", Value::Null),
        ("exp", json!("1700000300")),
        ("iat", json!(SECONDS + 61)),
        ("iat", json!(SECONDS - 3600)),
        ("nbf", json!(SECONDS + 61)),
        ("sub", Value::Null),
        ("sub", json!("")),
    ];
    for (name, value) in lies {
        let word = liar.key.sign("one", &with(good.clone(), name, value.clone()));
        let answer = liar.finish(&token, word).await;
        assert!(matches!(answer, Err(OidcError::Distrust(_))), "{name}: {value}: {answer:?}");
    }
    let stranger = ring_key::Signer::new();
    for word in [stranger.sign("one", &good), stranger.sign("two", &good), "a.b.c".to_owned(), String::new()]
    {
        assert!(matches!(liar.finish(&token, word.clone()).await, Err(OidcError::Distrust(_))), "{word}");
    }
    let unsigned = liar.key.sign("one", &good);
    let unsigned = format!("{}.", unsigned.rsplit_once('.').unwrap().0);
    assert!(matches!(liar.finish(&token, unsigned).await, Err(OidcError::Distrust(_))));
    // An unverified e-mail is none.
    let word = liar.key.sign("one", &with(good.clone(), "email_verified", json!(false)));
    assert_eq!(liar.finish(&token, word).await.unwrap().email, None);
    // The word for another sign-in.
    let other = SecretToken::random(&SystemRandom);
    let word = liar.key.sign("one", &good);
    assert!(matches!(liar.finish(&other, word).await, Err(OidcError::Distrust(JwtError::Nonce))));
    let wrong = liar.service().finish(&token, ("code", &other.derive(STATE)), "http://here/back", NOW).await;
    assert!(matches!(wrong, Err(OidcError::State)), "{wrong:?}");
}

#[tokio::test]
async fn what_else_is_told_is_of_the_same_person() {
    let (liar, token) = (Liar::new().await, SecretToken::random(&SystemRandom));
    let word = || liar.key.sign("one", &with(liar.claims(&token), "email", Value::Null));
    liar.said.lock().unwrap().userinfo =
        json!({ "sub": "7", "email": "a@b.example", "email_verified": true, "name": "A" });
    let who = liar.finish(&token, word()).await.unwrap();
    assert_eq!((who.email.as_deref(), who.name.as_deref()), (Some("a@b.example"), Some("A")));
    liar.said.lock().unwrap().userinfo =
        json!({ "sub": "8", "email": "a@b.example", "email_verified": true });
    assert!(matches!(liar.finish(&token, word()).await, Err(OidcError::Distrust(_))));
}

#[tokio::test]
async fn keys_are_read_again_when_one_is_missing_and_a_service_is_who_it_says() {
    let (liar, token) = (Liar::new().await, SecretToken::random(&SystemRandom));
    let service = liar.service();
    service.verify_id_token(&liar.key.sign("one", &liar.claims(&token)), NOW).await.unwrap();
    liar.said.lock().unwrap().keys = json!({ "keys": [liar.key.jwk("two")] });
    let rotated = liar.key.sign("two", &liar.claims(&token));
    assert!(service.verify_id_token(&rotated, NOW).await.is_err(), "not so soon");
    service.verify_id_token(&rotated, NOW.plus(Duration::from_secs(31))).await.unwrap();
    for (name, value) in [
        ("issuer", json!("https://evil.example")),
        ("authorization_endpoint", json!("javascript:alert(1)")),
        ("jwks_uri", Value::Null),
    ] {
        let liar = Liar::new().await;
        let before = liar.said.lock().unwrap().discovery.clone();
        liar.said.lock().unwrap().discovery = with(before, name, value);
        let answer = liar.service().build_authorization_url(&token, "http://here/back", NOW).await;
        assert!(matches!(answer, Err(OidcError::Away(_))), "{name}: {answer:?}");
    }
}
