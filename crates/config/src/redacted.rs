//! A value as it is shown.

use std::fmt;

use munshi_toml::writer::quote;

/// A value in the form it would have in the file; a secret is dots already.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum RedactedSetting {
    Text(String),
    Whole(u64),
    Flag(bool),
    List(Vec<String>),
}

impl fmt::Display for RedactedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quote(text)),
            Self::Whole(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::List(words) => {
                write!(f, "[{}]", words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(", "))
            }
        }
    }
}
