//! What is wrong with a folder of tiers: where, what, and what to do about it.

use std::fmt;

use munshi_toml::{ProblemText, SyntaxProblem, TextPosition, count_problems};
use serde::Serialize;

/// One thing that is wrong. Lines and columns count from 1, columns in characters; a problem of the whole file has
/// neither.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FolderProblem {
    pub file: String,
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// The key it is about, such as `voice.tone`.
    pub key: Option<String>,
    pub what: String,
    pub hint: Option<String>,
}

/// Everything that is wrong, file by file from top to bottom. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(transparent)]
pub struct FolderProblems(Vec<FolderProblem>);

impl FolderProblem {
    /// About a file as a whole.
    pub fn in_file(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, column: None, key: None, what: what.into(), hint: None }
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    pub fn at_position(self, TextPosition { line, column }: TextPosition) -> Self {
        Self { line: Some(line), column: Some(column), ..self }
    }

    pub(crate) fn from_syntax(file: &str, slip: SyntaxProblem) -> Self {
        Self { hint: slip.hint, ..Self::in_file(file, slip.what).at_position(slip.position) }
    }
}

impl FolderProblems {
    /// Everything that was found, if anything.
    pub fn ensure_none(mut problems: Vec<FolderProblem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort();
        problems.dedup();
        Err(Self(problems))
    }

    pub fn iter(&self) -> impl Iterator<Item = &FolderProblem> {
        self.0.iter()
    }
}

impl fmt::Display for FolderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.file),
            _ => self.file.clone(),
        };
        let (key, hint) = (self.key.as_deref(), self.hint.as_deref());
        ProblemText { place: &place, key, what: &self.what, hint }.fmt(f)
    }
}

impl fmt::Display for FolderProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the files have {}, so they can't be applied", count_problems(self.0.len()))?;
        self.0.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}
