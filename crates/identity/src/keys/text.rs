//! A key as it is written: `mk_` (`kk_` for a keeper's), eight letters that may be seen, forty-three that may not, and six that tell a slip.

use std::fmt;

use munshi_types::Random;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// What people and scanners know a key by.
const PREFIX: &str = "mk_";
/// As long as the other, for keys of whoever keeps the installation.
const KEEPER_PREFIX: &str = "kk_";
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const HANDLE: usize = 8;
/// 62 to the power of 43 is just above 2 to the power of 256.
const SECRET: usize = 43;
/// As many as 32 bits need.
const CHECK: usize = 6;

/// A key whole. It is shown once and kept nowhere; `{:?}` shows its handle alone.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText(Zeroizing<String>);

/// What the store keeps of a key's text.
///
/// A plain SHA-256, and not a slow hash such as argon2: those make up for passwords that can be guessed. Here the
/// secret is 256 bits of chance, which nobody can try out, and a slow hash would be paid with every request.
#[derive(Clone, Copy)]
pub(crate) struct KeyHash([u8; 32]);

impl KeyText {
    pub(crate) fn random(random: &dyn Random) -> Self {
        Self::random_with(PREFIX, random)
    }

    pub(crate) fn random_keeper(random: &dyn Random) -> Self {
        Self::random_with(KEEPER_PREFIX, random)
    }

    fn random_with(prefix: &str, random: &dyn Random) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(prefix.len() + HANDLE + SECRET + CHECK));
        text.push_str(prefix);
        for _ in 0..HANDLE + SECRET {
            text.push(random_letter(random));
        }
        let check = compute_checksum(&text);
        text.push_str(&check);
        Self(text)
    }

    /// None for what can't be a key: another form, or a slip in it. No question to the database is needed to know.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == PREFIX.len() + HANDLE + SECRET + CHECK && text.is_ascii();
        if !fits || !is_prefixed(text) {
            return None;
        }
        let (body, check) = text.split_at(text.len() - CHECK);
        (compute_checksum(body) == check).then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// The part that may be seen, in lists and in the audit: `mk_` and eight letters.
    pub fn handle(&self) -> &str {
        Self::parse_handle(&self.0).unwrap_or_default()
    }

    /// The handle that a text begins with, if it begins as keys do.
    pub fn parse_handle(text: &str) -> Option<&str> {
        text.get(..PREFIX.len() + HANDLE).filter(|handle| is_prefixed(handle))
    }

    /// Whether it is a keeper's.
    pub(crate) fn is_keeper(&self) -> bool {
        self.0.starts_with(KEEPER_PREFIX)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyText({}…)", self.handle())
    }
}

impl KeyHash {
    pub(crate) fn from_stored(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// In a time that does not depend on where they differ.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

fn is_prefixed(text: &str) -> bool {
    text.starts_with(PREFIX) || text.starts_with(KEEPER_PREFIX)
}

/// Bytes from 248 on are drawn again: they would make the first letters likelier.
pub(crate) fn random_letter(random: &dyn Random) -> char {
    let most = 256 / LETTERS.len() * LETTERS.len();
    loop {
        let mut byte = [0];
        random.fill(&mut byte);
        let drawn = usize::from(byte[0]);
        if drawn < most {
            return char::from(LETTERS[drawn % LETTERS.len()]);
        }
    }
}

/// The first 32 bits of the text's SHA-256, so that a scanner can tell a key from other letters that begin alike.
fn compute_checksum(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut number = digest.iter().take(4).fold(0, |number: usize, byte| number << 8 | usize::from(*byte));
    let mut check = [0; CHECK];
    for place in check.iter_mut().rev() {
        *place = LETTERS[number % LETTERS.len()];
        number /= LETTERS.len();
    }
    check.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::{SeededRandom, SystemRandom};
    use proptest::prelude::*;

    #[test]
    fn a_key_has_one_form_and_no_two_are_alike() {
        let (one, other) = (KeyText::random(&SystemRandom), KeyText::random(&SystemRandom));
        assert_ne!(one, other);
        assert_eq!((one.reveal().len(), one.handle().len()), (60, 11));
        assert!(one.reveal().starts_with(one.handle()) && one.handle().starts_with("mk_"));
        assert!(one.hash().equals(&KeyText::parse(one.reveal()).unwrap().hash()));
        assert!(!one.hash().equals(&other.hash()));
        let shown = format!("{one:?}");
        assert!(!shown.contains(&one.reveal()[12..]), "{shown}");
    }

    #[test]
    fn a_keepers_key_is_told_by_how_it_begins() {
        let key = KeyText::random_keeper(&SystemRandom);
        assert!(key.is_keeper() && key.handle().starts_with("kk_"));
        assert_eq!(KeyText::parse(key.reveal()).as_ref(), Some(&key));
        assert!(KeyText::parse(&key.reveal().replacen("kk_", "mk_", 1)).is_none());
        assert!(!KeyText::random(&SystemRandom).is_keeper());
    }

    #[test]
    fn every_letter_is_as_likely() {
        let random = SeededRandom::new(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..62_000 {
            *seen.entry(random_letter(&random)).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.len(), 62);
        assert!(seen.values().all(|count| (800..1200).contains(count)), "{seen:?}");
    }

    proptest! {
        #[test]
        fn a_slip_is_told_without_asking_anybody(seed: u64, at in 0_usize..60, letter in 0_usize..62) {
            let key = KeyText::random(&SeededRandom::new(seed));
            let mut slip = key.reveal().as_bytes().to_vec();
            slip[at] = LETTERS[letter];
            let slip = String::from_utf8(slip).unwrap();
            prop_assert_eq!(KeyText::parse(&slip).is_some(), slip == key.reveal());
        }

        #[test]
        fn whatever_is_sent_is_read_or_refused(text in "\\PC{0,80}") {
            prop_assert!(KeyText::parse(&text).is_none());
            let padded = format!("mk_{text}");
            prop_assert!(KeyText::parse(&padded).is_none());
        }
    }
}
