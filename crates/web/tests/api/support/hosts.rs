//! A host that signs for its visitors.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use munshi_identity::hosts::{self, HostKeyValueKind, NewHostKey};
use munshi_identity::jwt::JwtAlgorithm;
use munshi_types::{TenantId, Timestamp};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::Installation;

/// What every host of a test signs with.
pub(crate) const HOST_SECRET: &[u8] = b"a host and its tenant alone know this";

pub(super) struct FixedHosts;

#[async_trait]
impl hosts::HostKeySource for FixedHosts {
    async fn load_secret(&self, _: TenantId, _: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        Ok(Zeroizing::new(HOST_SECRET.to_vec()))
    }

    async fn fetch_published(&self, _: &str) -> Result<String, String> {
        Err("no network here".to_owned())
    }
}

/// What a token of the shop's front says of a visitor who came at this moment.
pub(crate) fn claims(now: Timestamp) -> Value {
    json!({ "sub": "c-17", "aud": "front", "iat": now.as_micros() / 1_000_000, "name": "Asha" })
}

pub(crate) fn signed(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(header), part(claims));
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
    let mark = URL_SAFE_NO_PAD.encode(ring::hmac::sign(&key, text.as_bytes()));
    format!("{text}.{mark}")
}

impl Installation {
    /// The shop believes its host.
    pub(crate) async fn host_key(&self) {
        let key = NewHostKey {
            kid: "one".to_owned(),
            host: "app".to_owned(),
            algorithm: JwtAlgorithm::Hs256,
            holds: HostKeyValueKind::Secret,
            value: "widget.one".to_owned(),
        };
        let now = self.now();
        self.db
            .write(self.shop.tenant, move |tx| {
                munshi_test_support::administer(tx, |tx| hosts::add(tx, &key, now))
            })
            .await
            .unwrap();
    }

    /// What the host signs of one of its visitors at this moment.
    pub(crate) fn host_token(&self) -> String {
        signed(&json!({ "alg": "HS256", "kid": "one" }), &claims(self.now()), HOST_SECRET)
    }
}
