//! Sealing: ChaCha20-Poly1305 with a random nonce, and with the place a value belongs to bound into it, so that a
//! sealed value opens nowhere else.

use munshi_types::{Id, Random, TenantId};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// The first byte of what is sealed, so that another way of sealing can be told from this one.
const FORM: u8 = 1;

/// 256 bits that are wiped when dropped.
pub(super) struct SealKey(Zeroizing<[u8; 32]>);

/// What a sealed value belongs to.
#[derive(Clone, Copy)]
pub(super) enum SealContext<'a> {
    /// A tenant's key, wrapped by the installation's key of this id.
    TenantKey {
        tenant: TenantId,
        key_id: &'a str,
    },
    Secret {
        tenant: TenantId,
        name: &'a str,
        version: i64,
    },
}

impl SealContext<'_> {
    /// Every part has a fixed length but the last, so that no two places have the same bytes.
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::TenantKey { tenant, key_id } => {
                [b"munshi vault key\0", &tenant.as_uuid().as_bytes()[..], key_id.as_bytes()].concat()
            }
            Self::Secret { tenant, name, version } => [
                b"munshi vault secret\0",
                &tenant.as_uuid().as_bytes()[..],
                &version.to_be_bytes()[..],
                name.as_bytes(),
            ]
            .concat(),
        }
    }
}

impl SealKey {
    pub(super) fn new(bytes: Zeroizing<[u8; 32]>) -> Self {
        Self(bytes)
    }

    pub(super) fn random(random: &dyn Random) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        random.fill(&mut bytes[..]);
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0[..]
    }

    /// Another key made of this one, for one use.
    pub(super) fn derive(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.0[..]), purpose.as_bytes());
        let mut bytes = Zeroizing::new([0; 32]);
        bytes.copy_from_slice(tag.as_ref());
        bytes
    }

    pub(super) fn seal(&self, value: &[u8], place: SealContext<'_>, random: &dyn Random) -> Result<Vec<u8>> {
        let failed = |_| Error::Key("encryption failed".to_owned());
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce);
        let mut body = Zeroizing::new(value.to_vec());
        let tag = self
            .cipher()?
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(place.bytes()),
                &mut body[..],
            )
            .map_err(failed)?;
        Ok([&[FORM], &nonce[..], &body[..], tag.as_ref()].concat())
    }

    /// None when it was sealed by another key, for another place, or was altered.
    pub(super) fn open(&self, sealed: &[u8], place: SealContext<'_>) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let Some((&FORM, rest)) = sealed.split_first() else { return Ok(None) };
        let Some((nonce, body)) = rest.split_at_checked(NONCE_LEN) else { return Ok(None) };
        let Ok(nonce) = Nonce::try_assume_unique_for_key(nonce) else { return Ok(None) };
        let mut body = Zeroizing::new(body.to_vec());
        let Ok(value) = self.cipher()?.open_in_place(nonce, Aad::from(place.bytes()), &mut body[..]) else {
            return Ok(None);
        };
        let length = value.len();
        body.truncate(length);
        Ok(Some(body))
    }

    fn cipher(&self) -> Result<LessSafeKey> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &self.0[..]);
        key.map(LessSafeKey::new).map_err(|_| Error::Key("the key has the wrong length".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use munshi_types::SystemRandom;
    use proptest::prelude::*;

    use super::*;

    fn tenant(number: u128) -> TenantId {
        TenantId::from_uuid(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn it_opens_only_with_its_key_and_in_its_place() {
        let (key, other) = (SealKey::random(&SystemRandom), SealKey::random(&SystemRandom));
        let place = SealContext::Secret { tenant: tenant(1), name: "a", version: 1 };
        let sealed = key.seal(b"hunter2", place, &SystemRandom).unwrap();
        assert_eq!(key.open(&sealed, place).unwrap().unwrap()[..], b"hunter2"[..]);
        assert!(other.open(&sealed, place).unwrap().is_none());
        for elsewhere in [
            SealContext::Secret { tenant: tenant(2), name: "a", version: 1 },
            SealContext::Secret { tenant: tenant(1), name: "b", version: 1 },
            SealContext::Secret { tenant: tenant(1), name: "a", version: 2 },
            SealContext::TenantKey { tenant: tenant(1), key_id: "a" },
        ] {
            assert!(key.open(&sealed, elsewhere).unwrap().is_none());
        }
        assert_ne!(key.seal(b"hunter2", place, &SystemRandom).unwrap(), sealed, "a nonce is used once");
    }

    proptest! {
        #[test]
        fn whatever_is_altered_or_cut_does_not_open(value in proptest::collection::vec(any::<u8>(), 0..40), at: usize, bit in 0..8_u8, cut: usize) {
            let key = SealKey::random(&SystemRandom);
            let place = SealContext::Secret { tenant: tenant(1), name: "a", version: 1 };
            let sealed = key.seal(&value, place, &SystemRandom).unwrap();
            let mut altered = sealed.clone();
            let at = at % altered.len();
            altered[at] ^= 1 << bit;
            prop_assert!(key.open(&altered, place).unwrap().is_none());
            prop_assert!(key.open(&sealed[..cut % sealed.len()], place).unwrap().is_none());
            prop_assert_eq!(&key.open(&sealed, place).unwrap().unwrap()[..], &value[..]);
        }
    }
}
