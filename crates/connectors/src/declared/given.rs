//! A value as it stands in a file: itself, or the name of a secret.

use munshi_safety::vault::SecretRef;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Given {
    Plain(String),
    /// Opened when the connector starts, for it alone.
    Secret(SecretRef),
}

impl TryFrom<String> for Given {
    type Error = munshi_safety::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.starts_with("vault:") {
            true => text.parse().map(Self::Secret),
            false => Ok(Self::Plain(text)),
        }
    }
}

impl From<Given> for String {
    fn from(given: Given) -> Self {
        match given {
            Given::Plain(text) => text,
            Given::Secret(name) => name.to_string(),
        }
    }
}
