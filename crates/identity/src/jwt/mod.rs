//! Signed tokens of others (JWT): read, and believed only after their signature and their claims were looked at.
//!
//! Which algorithm is right is said by the key, never by the token: a key holds one, so `none` and another kind of key
//! can't be asked for. The mathematics are ring's; here are the forms around them (RFC 7515, 7517, 7519, 8037).

mod claims;
mod key;
mod spki;

pub use claims::{ClaimRequirements, JwtClaims};
pub use key::{Jwk, JwkSet, JwtAlgorithm, VerificationKey};
pub use spki::from_pem;

use serde::Deserialize;

use crate::base64url;

/// Longer ones are somebody's attempt at our time.
const LONGEST: usize = 16 * 1024;

/// Why a token is not believed. Said to whoever made it, never a reason to let them in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    #[error("not a signed JWT of three parts")]
    Malformed,
    #[error("unsupported header: {0}")]
    Header(&'static str),
    #[error("the header names no key (`kid`)")]
    NoKid,
    #[error("key {0} is unknown or has expired")]
    UnknownKey(String),
    #[error("the header says `{said}`, but the key is for {key}")]
    Algorithm { said: String, key: JwtAlgorithm },
    #[error("the signature does not match")]
    Signature,
    #[error("invalid claims: {0}")]
    Claims(String),
    #[error("missing claim: {0}")]
    Missing(&'static str),
    #[error("wrong issuer (`iss`)")]
    Issuer,
    #[error("wrong audience: `aud` must be `{0}`")]
    Audience(String),
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet: check that the clocks agree")]
    Future,
    #[error("`nonce` does not match")]
    Nonce,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Something that must be understood; nothing is.
    crit: Option<serde_json::Value>,
    /// A payload that is not encoded, or encrypted: never ours.
    b64: Option<bool>,
    enc: Option<serde_json::Value>,
}

/// A token that was read but not believed. It shows only which key it names.
pub struct UnverifiedJwt<'t> {
    header: Header,
    /// What the signature is over.
    signed: &'t str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

impl<'t> UnverifiedJwt<'t> {
    pub fn read(text: &'t str) -> Result<Self, JwtError> {
        if text.len() > LONGEST {
            return Err(JwtError::Malformed);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(JwtError::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(JwtError::Malformed)?;
        if payload.contains('.') {
            return Err(JwtError::Malformed);
        }
        let decoded = |part: &str| base64url::decode(part).ok_or(JwtError::Malformed);
        let header: Header = serde_json::from_slice(&decoded(header)?).map_err(|_| JwtError::Malformed)?;
        if header.crit.is_some() || header.b64.is_some() {
            return Err(JwtError::Header("`crit` or `b64`"));
        }
        if header.enc.is_some() {
            return Err(JwtError::Header("`enc` (the token is encrypted)"));
        }
        Ok(Self { header, signed, payload: decoded(payload)?, signature: decoded(signature)? })
    }

    pub fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// The claims, once the signature fits this key by the key's own algorithm.
    pub fn verify(&self, key: &VerificationKey) -> Result<JwtClaims, JwtError> {
        if self.header.alg != key.algorithm().as_str() {
            let said = self.header.alg.chars().take(20).collect();
            return Err(JwtError::Algorithm { said, key: key.algorithm() });
        }
        if !key.verifies(self.signed.as_bytes(), &self.signature) {
            return Err(JwtError::Signature);
        }
        serde_json::from_slice(&self.payload).map_err(|error| JwtError::Claims(error.to_string()))
    }
}

#[cfg(test)]
mod tests;
