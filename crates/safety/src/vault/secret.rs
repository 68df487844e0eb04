//! A secret in memory, and the name by which everything else speaks of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::Error;

/// The value of a secret. It is wiped when dropped, and there is no way to print, compare, copy or store it by
/// accident: [`expose`](Self::expose) is the one way to see it, so that it can be searched for.
///
/// ```compile_fail
/// let secret = munshi_safety::vault::VaultSecret::new("hunter2".to_owned()).unwrap();
/// println!("{secret}");
/// ```
/// ```compile_fail
/// let secret = munshi_safety::vault::VaultSecret::new("hunter2".to_owned()).unwrap();
/// serde_json::to_string(&secret).unwrap();
/// ```
/// ```compile_fail
/// let secret = munshi_safety::vault::VaultSecret::new("hunter2".to_owned()).unwrap();
/// let copy = secret.clone();
/// ```
pub struct VaultSecret(Zeroizing<String>);

/// A value larger than this is no secret but a document.
const LARGEST: usize = 64 * 1024;

impl VaultSecret {
    pub fn new(value: String) -> Result<Self, Error> {
        let value = Zeroizing::new(value);
        match value.len() {
            0 => Err(Error::Invalid("the secret is empty".to_owned())),
            size if size > LARGEST => {
                Err(Error::Invalid(format!("the secret has {size} bytes; the maximum is {LARGEST}")))
            }
            _ => Ok(Self(value)),
        }
    }

    /// From bytes that were just unsealed.
    pub(super) fn from_bytes(bytes: &Zeroizing<Vec<u8>>) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(|text| Self(Zeroizing::new(text.to_owned())))
    }

    /// The value itself, for the client that sends it and nobody else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for VaultSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VaultSecret")
    }
}

/// The name of a secret, written `vault:razorpay.key` wherever settings and tiers speak of it. Safe to show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretRef(String);

impl SecretRef {
    const SCHEME: &'static str = "vault:";

    /// The name without `vault:`.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        let fits =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_./".contains(letter);
        let starts = name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit());
        if starts && name.len() <= 100 && name.chars().all(fits) {
            return Ok(Self(name.to_owned()));
        }
        // What was written may be the secret itself, so it is not repeated.
        Err(Error::Invalid(
            "invalid secret name: use up to 100 lowercase letters, digits, dots, dashes, underscores and \
             slashes, like razorpay.key"
                .to_owned(),
        ))
    }

    pub fn name(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.strip_prefix(Self::SCHEME) {
            Some(name) => Self::from_name(name),
            None => Err(Error::Invalid(
                "invalid secret reference: write vault: and the name, like vault:razorpay.key".to_owned(),
            )),
        }
    }
}

impl TryFrom<String> for SecretRef {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<SecretRef> for String {
    fn from(reference: SecretRef) -> Self {
        reference.to_string()
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::SCHEME, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_but_that_it_is_one() {
        let secret = VaultSecret::new("hunter2".to_owned()).unwrap();
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "VaultSecret Some(\n    VaultSecret,\n)");
        assert_eq!(secret.expose(), "hunter2");
        assert!(VaultSecret::new(String::new()).is_err());
        assert!(VaultSecret::new("x".repeat(LARGEST + 1)).is_err());
    }

    #[test]
    fn references_are_read_and_written() {
        let reference: SecretRef = "vault:razorpay/live.key_2".parse().unwrap();
        assert_eq!(
            (reference.name(), reference.to_string().as_str()),
            ("razorpay/live.key_2", "vault:razorpay/live.key_2")
        );
        assert_eq!(serde_json::to_string(&reference).unwrap(), "\"vault:razorpay/live.key_2\"");
        let long = format!("vault:{}", "a".repeat(101));
        for bad in ["", "razorpay", "vault:", "vault:A", "vault:a b", "vault:.a", "vault:क", "VAULT:a", &long]
        {
            let error = bad.parse::<SecretRef>().unwrap_err().to_string();
            assert!(error.contains("like"), "{bad}: {error}");
        }
    }

    #[test]
    fn what_may_be_a_secret_is_not_repeated() {
        for written in ["sk_live_HUNTER2", "vault:sk_live_HUNTER2"] {
            let error = written.parse::<SecretRef>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("HUNTER2"), "{error}");
        }
    }
}
