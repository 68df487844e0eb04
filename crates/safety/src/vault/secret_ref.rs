//! The name by which everything but its client speaks of a secret.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

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
