//! Long random texts that let somebody in: what a cookie holds, what a link ends with.

use std::fmt;

use munshi_types::Random;
use ring::hmac;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::keys::text::random_letter;

/// 62 to the power of 43 is just above 2 to the power of 256.
const LETTERS: usize = 43;

/// A text nobody can guess. What is kept of it is a plain SHA-256, as of an API key; `{:?}` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretToken(Zeroizing<String>);

impl SecretToken {
    pub fn random(random: &dyn Random) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(LETTERS));
        text.extend((0..LETTERS).map(|_| random_letter(random)));
        Self(text)
    }

    /// None for what can't be one: no question to the database is needed to know.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == LETTERS && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self(Zeroizing::new(text.to_owned())))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.0.as_bytes()).to_vec()
    }

    /// Another secret that follows from this one, for one purpose: it tells nothing of the token or of other purposes.
    pub fn derive(&self, purpose: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes());
        crate::base64url::encode(hmac::sign(&key, purpose.as_bytes()).as_ref())
    }

    /// The SHA-256 of what is derived: it can be shown first, and the derived text later proves whose it was (PKCE).
    pub fn challenge(&self, purpose: &str) -> String {
        crate::base64url::encode(&Sha256::digest(self.derive(purpose).as_bytes()))
    }

    /// Whether a text is what [`SecretToken::derive`] gives, in a time that does not depend on where they differ.
    pub fn verify_derived(&self, purpose: &str, text: &str) -> bool {
        use subtle::ConstantTimeEq;
        self.derive(purpose).as_bytes().ct_eq(text.as_bytes()).into()
    }
}

impl fmt::Debug for SecretToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretToken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::SystemRandom;

    #[test]
    fn a_token_is_read_as_it_was_made_and_shows_nothing() {
        let (one, other) = (SecretToken::random(&SystemRandom), SecretToken::random(&SystemRandom));
        assert!(one != other && one.hash() != other.hash());
        assert_eq!(SecretToken::parse(one.reveal()).unwrap(), one);
        assert_eq!(format!("{one:?}"), "SecretToken");
        for bad in ["", "abc", &one.reveal()[1..], &format!("{} ", one.reveal()), &"é".repeat(43)] {
            assert!(SecretToken::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn what_is_derived_is_of_one_token_and_one_purpose() {
        let (one, other) = (SecretToken::random(&SystemRandom), SecretToken::random(&SystemRandom));
        let form = one.derive("form");
        assert!(one.verify_derived("form", &form));
        assert!(
            !one.verify_derived("state", &form)
                && !other.verify_derived("form", &form)
                && !one.verify_derived("form", "")
        );
        assert!(!form.contains(one.reveal()));
    }
}
