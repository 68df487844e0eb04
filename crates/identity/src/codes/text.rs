//! Six digits, and the keyed hash that is kept of them.

use std::fmt;

use munshi_types::{CodeId, Id, Random, TenantId};
use ring::hmac;
use zeroize::Zeroizing;

use super::CodePurpose;
use crate::address::ContactAddress;

const DIGITS: usize = 6;

/// Where the digits of the scripts we speak begin; each has ten in a row.
const ZEROS: [char; 12] = ['0', '٠', '۰', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦'];

/// A code on its way to its address; `{:?}` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct CodeText(Zeroizing<String>);

/// What codes are hashed with. A million codes are quickly tried out, so without this key a look into the table would
/// tell them all: it must come from outside the database, such as from the vault, and be the same on every node.
#[derive(Clone)]
pub struct CodeKey(hmac::Key);

/// What a code is tied to: a hash that is moved to another row fits nothing there.
#[derive(Clone, Copy)]
pub(super) struct CodeHashInput<'a> {
    pub(super) tenant: TenantId,
    pub(super) id: CodeId,
    pub(super) purpose: CodePurpose,
    pub(super) asker: &'a str,
    pub(super) address: &'a ContactAddress,
}

impl CodeText {
    pub(super) fn random(random: &dyn Random) -> Self {
        Self(Zeroizing::new(format!("{:06}", random.next_below(1_000_000))))
    }

    /// Six digits in any of our scripts, blanks and dashes between them or not. None for what can't be a code.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut digits = Zeroizing::new(String::with_capacity(DIGITS));
        for letter in text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '.')) {
            if digits.len() == DIGITS {
                return None;
            }
            digits.push(digit(letter)?);
        }
        (digits.len() == DIGITS).then_some(Self(digits))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// The six digits in somebody's words, in any of our scripts and whatever stands around them; none where there are more or
/// fewer.
pub fn extract_digits(text: &str) -> Option<String> {
    let digits: String = text.chars().filter_map(digit).take(DIGITS + 1).collect();
    (digits.len() == DIGITS).then_some(digits)
}

fn digit(letter: char) -> Option<char> {
    let value =
        ZEROS.iter().find_map(|zero| u32::from(letter).checked_sub(u32::from(*zero)).filter(|v| *v < 10));
    value.and_then(|value| char::from_digit(value, 10))
}

impl CodeKey {
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    pub(super) fn hash(&self, ties: CodeHashInput<'_>, code: &CodeText) -> Vec<u8> {
        hmac::sign(&self.0, &message(ties, code)).as_ref().to_vec()
    }

    /// A seal over some words, for what is told to somebody and must come back as it was. It is never that of a code:
    /// a purpose stands before it.
    pub fn sign(&self, purpose: &str, words: &[&str]) -> Vec<u8> {
        hmac::sign(&self.0, &build_signed_message(purpose, words)).as_ref().to_vec()
    }

    /// Whether this, written in hexadecimal digits, is the seal over these words. In a time that does not depend on where
    /// they differ.
    pub fn verify_signature(&self, purpose: &str, words: &[&str], sent: &str) -> bool {
        let pairs = sent.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
        let bytes: Option<Vec<u8>> = pairs
            .map(|pair| {
                pair.filter(|pair| pair.len() == 2).and_then(|pair| u8::from_str_radix(pair, 16).ok())
            })
            .collect();
        bytes
            .is_some_and(|bytes| hmac::verify(&self.0, &build_signed_message(purpose, words), &bytes).is_ok())
    }

    /// In a time that does not depend on where they differ.
    pub(super) fn matches(&self, ties: CodeHashInput<'_>, code: &CodeText, hash: &[u8]) -> bool {
        hmac::verify(&self.0, &message(ties, code), hash).is_ok()
    }
}

fn message(ties: CodeHashInput<'_>, code: &CodeText) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(160));
    bytes.extend_from_slice(ties.tenant.as_uuid().as_bytes());
    bytes.extend_from_slice(ties.id.as_uuid().as_bytes());
    let address = ties.address;
    for word in [ties.purpose.as_str(), ties.asker, address.kind().as_str(), address.as_str(), code.reveal()]
    {
        // With its length before it, no word can be taken for part of the next.
        bytes.extend_from_slice(&(word.len() as u64).to_le_bytes());
        bytes.extend_from_slice(word.as_bytes());
    }
    bytes
}

/// Sixteen bytes that are no tenant's id, so that no seal is the hash of a code.
const SEALED: &[u8; 16] = b"sealed, no code:";

fn build_signed_message(purpose: &str, words: &[&str]) -> Vec<u8> {
    let mut bytes = SEALED.to_vec();
    for word in [purpose].iter().chain(words) {
        bytes.extend_from_slice(&(word.len() as u64).to_le_bytes());
        bytes.extend_from_slice(word.as_bytes());
    }
    bytes
}

impl fmt::Debug for CodeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeText")
    }
}

impl fmt::Debug for CodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::{IdGenerator, SeededRandom};
    use proptest::prelude::*;

    #[test]
    fn people_write_a_code_in_their_own_way() {
        for same in ["012345", "012 345", " 012-345\n", "०१२३४५", "০১২ ৩৪৫", "௦௧௨௩௪௫", "٠١٢٣٤٥"]
        {
            assert_eq!(CodeText::parse(same).unwrap().reveal(), "012345", "{same}");
        }
        for other in ["", "12345", "1234567", "12345a", "my code is 123456", "१२३४", "+12345"] {
            assert!(CodeText::parse(other).is_none(), "{other}");
        }
        assert_eq!(format!("{:?}", CodeText::parse("012345")), "Some(CodeText)");
    }

    #[test]
    fn digits_are_found_among_words() {
        for same in ["012345", "the code is 012 345.", "०१२-३४५ यह रहा", "कोड ௦௧௨௩௪௫"]
        {
            assert_eq!(extract_digits(same).as_deref(), Some("012345"), "{same}");
        }
        for none in ["", "yes", "12345", "1234567", "500 to Ravi, 1200 to Meena"] {
            assert_eq!(extract_digits(none), None, "{none}");
        }
    }

    #[test]
    fn a_hash_is_tied_to_its_row_and_its_key() {
        let ids = IdGenerator::system();
        let (phone, other) =
            (ContactAddress::phone("9812345678").unwrap(), ContactAddress::phone("9812345679").unwrap());
        let ties = CodeHashInput {
            tenant: ids.next(),
            id: ids.next(),
            purpose: CodePurpose::Link,
            asker: "a",
            address: &phone,
        };
        let (key, code) = (CodeKey::new(&[1; 32]), CodeText::parse("123456").unwrap());
        let hash = key.hash(ties, &code);
        assert!(key.matches(ties, &code, &hash) && !CodeKey::new(&[2; 32]).matches(ties, &code, &hash));
        for moved in [
            CodeHashInput { tenant: ids.next(), ..ties },
            CodeHashInput { id: ids.next(), ..ties },
            CodeHashInput { purpose: CodePurpose::SignIn, ..ties },
            CodeHashInput { asker: "b", ..ties },
            CodeHashInput { address: &other, ..ties },
        ] {
            assert!(!key.matches(moved, &code, &hash));
        }
        assert!(!key.matches(ties, &CodeText::parse("123457").unwrap(), &hash));
        assert!(!key.matches(ties, &code, &[]));
    }

    proptest! {
        #[test]
        fn a_code_that_was_made_can_be_read(seed: u64) {
            let code = CodeText::random(&SeededRandom::new(seed));
            prop_assert_eq!(CodeText::parse(code.reveal()).unwrap(), code);
        }

        #[test]
        fn whatever_is_written_is_six_digits_or_nothing(text in "\\PC{0,12}") {
            if let Some(code) = CodeText::parse(&text) {
                prop_assert!(code.reveal().len() == 6 && code.reveal().bytes().all(|b| b.is_ascii_digit()));
            }
        }
    }
}
