//! Keys that signatures are looked at with. Each is for one algorithm.

use std::fmt;

use ring::{hmac, signature};
use serde::{Deserialize, Serialize};

use crate::base64url;

/// Those that are understood: one of each kind that is in use, none of them weak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JwtAlgorithm {
    #[serde(rename = "HS256")]
    Hs256,
    #[serde(rename = "RS256")]
    Rs256,
    #[serde(rename = "ES256")]
    Es256,
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl JwtAlgorithm {
    pub const ALL: [Self; 4] = [Self::Hs256, Self::Rs256, Self::Es256, Self::EdDsa];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

impl fmt::Display for JwtAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for JwtAlgorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|one| one.as_str().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("unknown algorithm `{text}`: use HS256, RS256, ES256 or EdDSA"))
    }
}

/// A key, ready to look at signatures with.
pub struct VerificationKey(Held);

enum Held {
    Secret(hmac::Key),
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point of P-256.
    Ec(Vec<u8>),
    /// A point of Ed25519.
    Ed(Vec<u8>),
}

impl VerificationKey {
    /// A shared secret. Shorter ones than the hash can be tried out.
    pub fn from_secret(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= 32).then(|| Self(Held::Secret(hmac::Key::new(hmac::HMAC_SHA256, bytes))))
    }

    pub const fn algorithm(&self) -> JwtAlgorithm {
        match self.0 {
            Held::Secret(_) => JwtAlgorithm::Hs256,
            Held::Rsa { .. } => JwtAlgorithm::Rs256,
            Held::Ec(_) => JwtAlgorithm::Es256,
            Held::Ed(_) => JwtAlgorithm::EdDsa,
        }
    }

    pub(super) fn verifies(&self, message: &[u8], signed: &[u8]) -> bool {
        let by = |algorithm: &'static dyn signature::VerificationAlgorithm, key: &[u8]| {
            signature::UnparsedPublicKey::new(algorithm, key).verify(message, signed).is_ok()
        };
        match &self.0 {
            Held::Secret(key) => hmac::verify(key, message, signed).is_ok(),
            // From 2,048 bits on: ring refuses shorter ones.
            Held::Rsa { n, e } => signature::RsaPublicKeyComponents { n, e }
                .verify(&signature::RSA_PKCS1_2048_8192_SHA256, message, signed)
                .is_ok(),
            Held::Ec(point) => by(&signature::ECDSA_P256_SHA256_FIXED, point),
            Held::Ed(point) => by(&signature::ED25519, point),
        }
    }
}

impl fmt::Debug for VerificationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.algorithm())
    }
}

/// A public key as JSON. Kept in this form, whatever form it came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jwk {
    pub kty: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "use")]
    pub purpose: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
}

impl Jwk {
    /// The key, where it is a public one of a kind that is understood. A shared secret is never taken from JSON: what is
    /// published is no secret.
    pub fn to_verification_key(&self) -> Option<VerificationKey> {
        if self.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let bytes = |text: &Option<String>| base64url::decode(text.as_deref()?);
        let key = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", None) => VerificationKey(Held::Rsa {
                n: strip_leading_zeros(bytes(&self.n)?),
                e: strip_leading_zeros(bytes(&self.e)?),
            }),
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(&self.x)?, bytes(&self.y)?);
                let fits = x.len() == 32 && y.len() == 32;
                fits.then(|| VerificationKey(Held::Ec([&[4], x.as_slice(), y.as_slice()].concat())))?
            }
            ("OKP", Some("Ed25519")) => {
                let x = bytes(&self.x).filter(|x| x.len() == 32)?;
                VerificationKey(Held::Ed(x))
            }
            _ => return None,
        };
        let said = self.alg.as_deref();
        said.is_none_or(|said| said == key.algorithm().as_str()).then_some(key)
    }
}

/// Ring takes numbers without zeros before them; some write one.
fn strip_leading_zeros(bytes: Vec<u8>) -> Vec<u8> {
    bytes.into_iter().skip_while(|byte| *byte == 0).collect()
}

/// The keys that somebody publishes (a JWKS); those of other kinds are passed over.
#[derive(Debug, Default)]
pub struct JwkSet {
    keys: Vec<(Option<String>, VerificationKey)>,
}

impl JwkSet {
    pub fn parse(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<serde_json::Value>,
        }
        let set: Set = serde_json::from_str(text).ok()?;
        let read = |value: serde_json::Value| {
            let jwk: Jwk = serde_json::from_value(value).ok()?;
            jwk.to_verification_key().map(|key| (jwk.kid.clone(), key))
        };
        Some(Self { keys: set.keys.into_iter().filter_map(read).collect() })
    }

    /// The key of a name. A token that names none is looked at with the only one there is.
    pub fn find(&self, kid: Option<&str>) -> Option<&VerificationKey> {
        match kid {
            Some(kid) => {
                self.keys.iter().find(|(known, _)| known.as_deref() == Some(kid)).map(|(_, key)| key)
            }
            None if self.keys.len() == 1 => self.keys.first().map(|(_, key)| key),
            None => None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}
