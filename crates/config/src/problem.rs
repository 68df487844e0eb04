//! What is wrong with the settings: where, what, and what to do about it.

use std::fmt;

use munshi_toml::{ProblemText, TextPosition, count_problems};
use serde::Serialize;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum SettingOrigin {
    /// The file as a whole: it is missing or can't be read.
    #[serde(rename = "file")]
    File { file: String },
    /// Lines and columns count from 1, columns in characters.
    #[serde(rename = "file")]
    Line { file: String, line: usize, column: usize },
    /// An environment variable.
    Environment { variable: String },
    /// Nobody wrote it.
    Default,
}

/// One thing that is wrong. Its text never holds a secret's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigProblem {
    pub place: SettingOrigin,
    /// The key it is about, such as `server.listen`; none when it is about the file itself.
    pub key: Option<String>,
    pub what: String,
    pub hint: Option<String>,
}

/// Everything that is wrong: the file from top to bottom, then the variables. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(transparent)]
pub struct ConfigProblems(Vec<ConfigProblem>);

impl ConfigProblems {
    pub(crate) fn new(mut problems: Vec<ConfigProblem>) -> Self {
        problems.sort_by(|one, other| one.place.cmp(&other.place));
        Self(problems)
    }

    /// For those who look closer than the settings do: everything they found, if anything.
    pub fn fail_if_any(problems: Vec<ConfigProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self::new(problems)) }
    }

    pub fn iter(&self) -> impl Iterator<Item = &ConfigProblem> {
        self.0.iter()
    }
}

impl SettingOrigin {
    pub(crate) fn at_position(file: &str, TextPosition { line, column }: TextPosition) -> Self {
        Self::Line { file: file.to_owned(), line, column }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file } => f.write_str(file),
            Self::Line { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Self::Environment { variable } => f.write_str(variable),
            Self::Default => f.write_str("default"),
        }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A variable's name says the key already.
        let key = self.key.as_deref().filter(|_| !matches!(self.place, SettingOrigin::Environment { .. }));
        ProblemText { place: &self.place, key, what: &self.what, hint: self.hint.as_deref() }.fmt(f)
    }
}

impl fmt::Display for ConfigProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the settings have {}", count_problems(self.0.len()))?;
        self.0.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}
