//! A value as it stands in a file: itself, or the name of a secret.

use munshi_safety::vault::SecretRef;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MaybeSecret {
    Plain(String),
    /// Opened when the connector starts, for it alone.
    Secret(SecretRef),
}

impl TryFrom<String> for MaybeSecret {
    type Error = munshi_safety::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.starts_with("vault:") {
            true => text.parse().map(Self::Secret),
            false => Ok(Self::Plain(text)),
        }
    }
}

impl From<MaybeSecret> for String {
    fn from(given: MaybeSecret) -> Self {
        match given {
            MaybeSecret::Plain(text) => text,
            MaybeSecret::Secret(name) => name.to_string(),
        }
    }
}
