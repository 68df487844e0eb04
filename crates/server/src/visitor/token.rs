//! What a browser is known by: `mv_` and forty-three letters that nobody guesses. The store has their hash alone, so that
//! nobody who reads it can speak for a visitor.

use std::fmt;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use munshi_identity::codes::CodeKey;
use munshi_identity::{ContactAddress, ContactAddressError};
use munshi_types::Random;
use sha2::{Digest, Sha256};

use crate::cookies::{self, ConnectionSecurity};

const PREFIX: &str = "mv_";
const PURPOSE: &str = "visitor";
const LETTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
/// 64 to the power of 43 is 2 to the power of 258.
const SECRET: usize = 43;
const NAME: &str = "munshi_visitor";
/// Half a year; each message begins it anew.
const AGE: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// Whoever has it is taken for this visitor; `{:?}` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct VisitorToken(String);

impl VisitorToken {
    pub fn random(random: &dyn Random) -> Self {
        let mut bytes = [0; SECRET];
        random.fill(&mut bytes);
        let letters = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)]));
        Self(PREFIX.chars().chain(letters).collect())
    }

    /// Somebody new's, out of their first message's id and a secret that their browser made for it. An answer that is lost
    /// on the line takes the token with it; who sends the message again gets the same, and is the same. The secret is
    /// stored nowhere and shown to nobody, so nobody who reads the message gets the token.
    pub fn derive(key: &CodeKey, binding: &str, message: &str, secret: &str) -> Self {
        let sealed = key.sign(PURPOSE, &[binding, message, secret]);
        Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let secret = text.strip_prefix(PREFIX)?;
        let fits = secret.len() == SECRET && secret.bytes().all(|byte| LETTERS.contains(&byte));
        fits.then(|| Self(text.to_owned()))
    }

    /// Whether a text is meant to be one, good or not.
    pub fn has_prefix(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// None where it was sent twice: one of them was planted by a neighbour under the same name. Over a secure line only
    /// a name is taken that no neighbour can plant; browsers send that on no other line, whatever we know of it.
    pub fn from_cookie(headers: &HeaderMap, line: ConnectionSecurity) -> Option<Self> {
        let safe = cookies::read(headers, NAME, true);
        let plain = || cookies::read(headers, NAME, false).filter(|_| line == ConnectionSecurity::Open);
        Self::parse(safe.or_else(plain)?)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the visitor is called in the channel of pages.
    pub fn id(&self) -> String {
        Sha256::digest(self.0.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What a form of this browser carries: whoever knows the id does not know it.
    pub fn form_token(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(format!("form {}", self.0).as_bytes()))
    }

    pub fn address(&self) -> Result<ContactAddress, ContactAddressError> {
        ContactAddress::visitor(&self.id())
    }

    /// Scripts can't read it, other sites can't send it, and over a secure line it never leaves on another.
    pub fn cookie(&self, line: ConnectionSecurity) -> Option<HeaderValue> {
        cookies::build(NAME, &self.0, AGE, line == ConnectionSecurity::Secure)
    }

    /// Takes it out of the browser.
    pub fn expired_cookie(line: ConnectionSecurity) -> Option<HeaderValue> {
        cookies::build_expired(NAME, line == ConnectionSecurity::Secure)
    }
}

impl fmt::Debug for VisitorToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VisitorToken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::COOKIE;
    use munshi_types::SystemRandom;

    #[test]
    fn a_token_comes_back_as_it_was_given() {
        let (token, other) = (VisitorToken::random(&SystemRandom), VisitorToken::random(&SystemRandom));
        assert_ne!(token, other);
        assert_eq!(VisitorToken::parse(token.reveal()), Some(token.clone()));
        for bad in ["", "mv_", "mk_x", &token.reveal()[1..], &format!("{}x", token.reveal()), "mv_ä"] {
            assert_eq!(VisitorToken::parse(bad), None, "{bad}");
        }
        let sent = format!("a=b; munshi_visitor={}; c=d", token.reveal());
        let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::try_from(sent).unwrap())]);
        assert_eq!(VisitorToken::from_cookie(&headers, ConnectionSecurity::Open), Some(token.clone()));
        assert_eq!(
            VisitorToken::from_cookie(&headers, ConnectionSecurity::Secure),
            None,
            "a neighbour may have planted it"
        );
        assert!(token.cookie(ConnectionSecurity::Secure).unwrap().to_str().unwrap().ends_with("; Secure"));
        assert!(!token.cookie(ConnectionSecurity::Open).unwrap().to_str().unwrap().contains("Secure"));
    }

    #[test]
    fn a_first_message_that_comes_again_has_the_same_token() {
        let key = CodeKey::new(&[7; 32]);
        let token = VisitorToken::derive(&key, "b", "m", "s");
        assert_eq!(VisitorToken::parse(token.reveal()), Some(token.clone()));
        assert_eq!(VisitorToken::derive(&key, "b", "m", "s"), token);
        let of = |binding, message, secret| VisitorToken::derive(&key, binding, message, secret);
        for other in [of("b", "n", "s"), of("c", "m", "s"), of("b", "m", "t"), of("b", "m", "")] {
            assert_ne!(other, token);
        }
        assert_ne!(VisitorToken::derive(&CodeKey::new(&[8; 32]), "b", "m", "s"), token, "another tenant's");
        let twice = format!("munshi_visitor={0}; munshi_visitor={0}", token.reveal());
        let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::try_from(twice).unwrap())]);
        assert_eq!(VisitorToken::from_cookie(&headers, ConnectionSecurity::Open), None);
    }

    #[test]
    fn the_store_can_not_speak_for_a_visitor() {
        let token = VisitorToken::random(&SystemRandom);
        assert!(!token.address().unwrap().as_str().contains(&token.reveal()[3..]));
        assert_eq!(token.id().len(), 64);
        assert_eq!(format!("{token:?}"), "VisitorToken");
    }
}
