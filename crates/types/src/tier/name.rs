//! The kinds of tier, and the names they go by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::is_slug;

/// The three tiers, and the binding that joins them. All four are named, versioned and kept alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierKind {
    Human,
    Team,
    Agent,
    Binding,
}

impl TierKind {
    /// In the order in which one refers to the other.
    pub const ALL: [Self; 4] = [Self::Human, Self::Team, Self::Agent, Self::Binding];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Team => "team",
            Self::Agent => "agent",
            Self::Binding => "binding",
        }
    }

    /// The folder that holds its files.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Human => "humans",
            Self::Team => "teams",
            Self::Agent => "agents",
            Self::Binding => "bindings",
        }
    }

    /// How its files end: prose is markdown, the rest is TOML.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Human | Self::Team => "md",
            Self::Agent | Self::Binding => "toml",
        }
    }
}

impl fmt::Display for TierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TierKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text || kind.folder() == text);
        found.ok_or_else(|| format!("unknown tier kind `{text}`: use human, team, agent or binding"))
    }
}

/// Whether a tier may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierStatus {
    Active,
    /// Put away with its history; nothing may refer to it. Applying its file again brings it back.
    Archived,
}

impl TierStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
        }
    }
}

impl fmt::Display for TierStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TierStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "active" => Ok(Self::Active),
            "archived" => Ok(Self::Archived),
            other => Err(format!("unknown tier status `{other}`: use active or archived")),
        }
    }
}

/// A tier's short name, unique among its kind in a tenant: its file is called so, and others refer to it by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TierName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid name: use 1 to 63 lowercase letters, digits and hyphens, starting with a letter or digit"
)]
pub struct TierNameError(String);

impl TierName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TierName {
    type Err = TierNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if is_slug(text) { Ok(Self(text.to_owned())) } else { Err(TierNameError(text.to_owned())) }
    }
}

impl TryFrom<String> for TierName {
    type Error = TierNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TierName> for String {
    fn from(name: TierName) -> Self {
        name.0
    }
}

impl fmt::Display for TierName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_states_read_back() {
        for kind in TierKind::ALL {
            assert_eq!(kind.as_str().parse::<TierKind>().unwrap(), kind);
            assert_eq!(kind.folder().parse::<TierKind>().unwrap(), kind);
        }
        for status in [TierStatus::Active, TierStatus::Archived] {
            assert_eq!(status.to_string().parse::<TierStatus>().unwrap(), status);
        }
        assert!("persona".parse::<TierKind>().is_err());
    }

    #[test]
    fn names_that_fit_and_names_that_do_not() {
        assert!("front-desk".parse::<TierName>().is_ok());
        for bad in ["", "-a", "a-", "A", "a b", "../x", "मीरा", &"x".repeat(64)] {
            assert!(bad.parse::<TierName>().is_err(), "{bad}");
        }
    }
}
