//! What somebody consents to: a purpose that the tenant's policy declares, and that tools name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A purpose by its name: small letters, digits and underscores, such as `credit_check`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ConsentPurposeName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid purpose: use 1 to 64 lowercase letters, digits and underscores, starting with a letter"
)]
pub struct ConsentPurposeNameError(String);

impl ConsentPurposeName {
    const LONGEST: usize = 64;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ConsentPurposeName {
    type Err = ConsentPurposeNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let fits = (1..=Self::LONGEST).contains(&text.len())
            && text.starts_with(|letter: char| letter.is_ascii_lowercase())
            && text.bytes().all(is_plain);
        if fits { Ok(Self(text.to_owned())) } else { Err(ConsentPurposeNameError(text.to_owned())) }
    }
}

impl TryFrom<String> for ConsentPurposeName {
    type Error = ConsentPurposeNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ConsentPurposeName> for String {
    fn from(name: ConsentPurposeName) -> Self {
        name.0
    }
}

impl fmt::Display for ConsentPurposeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_one_plain_word() {
        for good in ["credit_check", "a", "abha2"] {
            assert_eq!(good.parse::<ConsentPurposeName>().unwrap().as_str(), good);
        }
        for bad in ["", "Credit", "2nd", "credit check", "credit-check", "ऋण", &"a".repeat(65)] {
            assert!(bad.parse::<ConsentPurposeName>().is_err(), "{bad}");
        }
    }
}
