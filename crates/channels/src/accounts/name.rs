//! What a tenant calls an account.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Its heading in `channels.toml`, and what is stored with each message that left by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChannelAccountName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid channel name: use 1 to 24 lowercase letters, digits, hyphens and underscores, starting with a letter"
)]
pub struct ChannelAccountNameError(String);

impl ChannelAccountName {
    const LONGEST: usize = 24;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChannelAccountName {
    type Err = ChannelAccountNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
        let starts = text.starts_with(|letter: char| letter.is_ascii_lowercase());
        match starts && text.len() <= Self::LONGEST && text.chars().all(fits) {
            true => Ok(Self(text.to_owned())),
            false => Err(ChannelAccountNameError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for ChannelAccountName {
    type Error = ChannelAccountNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ChannelAccountName> for String {
    fn from(name: ChannelAccountName) -> Self {
        name.0
    }
}

impl fmt::Display for ChannelAccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
