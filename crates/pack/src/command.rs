//! Commands of a pack: `munshi PACK COMMAND …`. The binary reads the arguments by their description.

use std::collections::BTreeMap;

use async_trait::async_trait;
use munshi_store::Db;
use munshi_types::{IdGenerator, TenantId, Timestamp};
use serde_json::Value;

#[async_trait]
pub trait PackCommand: Send + Sync {
    /// A plain word, the only one of its pack: `import`.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    fn arguments(&self) -> &'static [PackArgument] {
        &[]
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError>;
}

/// What may be typed behind a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackArgument {
    /// Small letters and hyphens: `from-file`.
    pub name: &'static str,
    pub about: &'static str,
    pub kind: PackArgumentKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackArgumentKind {
    /// A word by its place, that must be there.
    Needed,
    /// A word by its place.
    Optional,
    /// All words that are left.
    Rest,
    /// `--name VALUE`
    Value,
    /// `--name`
    Flag,
}

/// What was typed, by the arguments' names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackArgumentValues(BTreeMap<String, Vec<String>>);

impl PackArgumentValues {
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.entry(name.to_owned()).or_default().push(value.into());
    }

    /// A flag: it was there.
    pub fn add_flag(&mut self, name: &str) {
        self.0.entry(name.to_owned()).or_default();
    }

    pub fn one(&self, name: &str) -> Option<&str> {
        self.all(name).first().map(String::as_str)
    }

    pub fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// What a command is run with.
pub struct PackCommandCall<'c> {
    pub db: &'c Db,
    pub tenant: TenantId,
    pub given: &'c PackArgumentValues,
    pub now: Timestamp,
    pub ids: &'c IdGenerator,
    pub out: &'c mut dyn PackCommandOutput,
}

/// Where a command's answer goes: to a person in words, to a script as JSON.
pub trait PackCommandOutput: Send {
    fn print_result(&mut self, value: &Value, words: &str) -> Result<(), PackCommandError>;
}

/// What went wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct PackCommandError {
    pub what: String,
    pub hint: Option<String>,
}

impl PackCommandError {
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<munshi_store::Error> for PackCommandError {
    fn from(error: munshi_store::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// What can't be typed as it is described, in a few words.
pub(crate) fn find_argument_problem(arguments: &[PackArgument]) -> Option<String> {
    let mut named: Vec<&str> = Vec::new();
    let mut last = PackArgumentKind::Needed;
    for argument in arguments {
        let name = argument.name;
        if !is_option_name(name) {
            return Some(format!("`{name}` is not a valid argument name: use lowercase letters and hyphens"));
        }
        if ["help", "json", "config", "no-color", "tenant"].contains(&name) {
            return Some(format!("`{name}` is reserved: every command has it"));
        }
        if named.contains(&name) {
            return Some(format!("duplicate argument `{name}`"));
        }
        named.push(name);
        match (last, argument.kind) {
            (_, PackArgumentKind::Value | PackArgumentKind::Flag) => continue,
            (PackArgumentKind::Rest, _) => {
                return Some(format!("argument `{name}` follows one that takes all remaining words"));
            }
            (PackArgumentKind::Optional, PackArgumentKind::Needed) => {
                return Some(format!("required argument `{name}` follows an optional one"));
            }
            _ => last = argument.kind,
        }
    }
    None
}

fn is_option_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_could_not_be_typed_are_named() {
        let argument = |name, kind| PackArgument { name, about: "", kind };
        let good = [
            argument("file", PackArgumentKind::Needed),
            argument("from-day", PackArgumentKind::Value),
            argument("more", PackArgumentKind::Rest),
            argument("dry", PackArgumentKind::Flag),
        ];
        assert_eq!(find_argument_problem(&good), None);
        for (bad, word) in [
            (&[argument("File", PackArgumentKind::Needed)][..], "not a valid argument name"),
            (&[argument("json", PackArgumentKind::Flag)], "reserved"),
            (
                &[argument("a", PackArgumentKind::Flag), argument("a", PackArgumentKind::Value)],
                "duplicate argument",
            ),
            (
                &[argument("a", PackArgumentKind::Rest), argument("b", PackArgumentKind::Optional)],
                "all remaining words",
            ),
            (
                &[argument("a", PackArgumentKind::Optional), argument("b", PackArgumentKind::Needed)],
                "follows an optional one",
            ),
        ] {
            assert!(find_argument_problem(bad).unwrap().contains(word), "{bad:?}");
        }
    }
}
