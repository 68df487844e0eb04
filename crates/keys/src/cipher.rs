//! Sealing: ChaCha20-Poly1305 with a random nonce, and with the place a value belongs to bound into it, so that a
//! sealed value opens nowhere else.
//!
//! A nonce has 96 random bits, so one key may seal some four billion values (2^32) before the chance that two share a
//! nonce reaches one in four billion. A person's key never comes near that; a tenant's own seals what belongs to no one
//! person and comes no nearer.

use std::fmt;

use munshi_types::Random;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// The first byte of what is sealed, so that another way of sealing can be told from this one.
const FORM: u8 = 1;

/// The length of a key.
const KEY_LEN: usize = 32;

/// 256 bits that are wiped when dropped.
pub struct SealKey(Zeroizing<[u8; KEY_LEN]>);

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}

impl SealKey {
    /// None when these are not as many bytes as a key has.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut key = Zeroizing::new([0; KEY_LEN]);
        if bytes.len() != KEY_LEN {
            return None;
        }
        key.copy_from_slice(bytes);
        Some(Self(key))
    }

    pub fn random(random: &dyn Random) -> Self {
        let mut bytes = Zeroizing::new([0; KEY_LEN]);
        random.fill(&mut bytes[..]);
        Self(bytes)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0[..]
    }

    /// Another key made of this one, for one use.
    pub fn derive(&self, purpose: &str) -> Zeroizing<[u8; KEY_LEN]> {
        Zeroizing::new(self.hash(&[purpose.as_bytes()]))
    }

    /// A keyed hash of these parts, one after the other.
    pub fn hash(&self, parts: &[&[u8]]) -> [u8; KEY_LEN] {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, self.bytes()));
        for part in parts {
            context.update(part);
        }
        let mut hash = [0; KEY_LEN];
        hash.copy_from_slice(context.sign().as_ref());
        hash
    }

    /// Seals a value for its place.
    pub fn seal(&self, value: &[u8], place: &[u8], random: &dyn Random) -> Result<Vec<u8>> {
        let mut sealed = Vec::with_capacity(1 + NONCE_LEN + value.len() + 16);
        self.seal_into(&mut sealed, value, place, random)?;
        Ok(sealed)
    }

    /// The same behind what is there already.
    pub fn seal_into(
        &self,
        out: &mut Vec<u8>,
        value: &[u8],
        place: &[u8],
        random: &dyn Random,
    ) -> Result<()> {
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce);
        out.push(FORM);
        out.extend_from_slice(&nonce);
        let start = out.len();
        out.extend_from_slice(value);
        let tag = self
            .cipher()?
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(place),
                &mut out[start..],
            )
            .map_err(|_| Error::Key("encryption failed".to_owned()))?;
        out.extend_from_slice(tag.as_ref());
        Ok(())
    }

    /// None when it was sealed by another key, for another place, or was altered.
    pub fn open(&self, sealed: &[u8], place: &[u8]) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let Some((&FORM, rest)) = sealed.split_first() else { return Ok(None) };
        let Some((nonce, body)) = rest.split_at_checked(NONCE_LEN) else { return Ok(None) };
        let Ok(nonce) = Nonce::try_assume_unique_for_key(nonce) else { return Ok(None) };
        let mut body = Zeroizing::new(body.to_vec());
        let Ok(value) = self.cipher()?.open_in_place(nonce, Aad::from(place), &mut body[..]) else {
            return Ok(None);
        };
        let length = value.len();
        body.truncate(length);
        Ok(Some(body))
    }

    fn cipher(&self) -> Result<LessSafeKey> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, self.bytes());
        key.map(LessSafeKey::new).map_err(|_| Error::Key("the key has the wrong length".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use munshi_types::SystemRandom;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_opens_only_with_its_key_and_in_its_place() {
        let (key, other) = (SealKey::random(&SystemRandom), SealKey::random(&SystemRandom));
        let sealed = key.seal(b"hunter2", b"here", &SystemRandom).unwrap();
        assert_eq!(key.open(&sealed, b"here").unwrap().unwrap()[..], b"hunter2"[..]);
        assert!(other.open(&sealed, b"here").unwrap().is_none());
        assert!(key.open(&sealed, b"there").unwrap().is_none());
        assert_ne!(key.seal(b"hunter2", b"here", &SystemRandom).unwrap(), sealed, "a nonce is used once");
    }

    proptest! {
        #[test]
        fn whatever_is_altered_or_cut_does_not_open(value in proptest::collection::vec(any::<u8>(), 0..40), at: usize, bit in 0..8_u8, cut: usize) {
            let key = SealKey::random(&SystemRandom);
            let sealed = key.seal(&value, b"here", &SystemRandom).unwrap();
            let mut altered = sealed.clone();
            let at = at % altered.len();
            altered[at] ^= 1 << bit;
            prop_assert!(key.open(&altered, b"here").unwrap().is_none());
            prop_assert!(key.open(&sealed[..cut % sealed.len()], b"here").unwrap().is_none());
            prop_assert_eq!(&key.open(&sealed, b"here").unwrap().unwrap()[..], &value[..]);
        }
    }
}
