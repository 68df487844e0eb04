//! What is wrong with a folder of tiers: where, what, and what to do about it.

use std::fmt;

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

    pub fn at_position(self, (line, column): (usize, usize)) -> Self {
        Self { line: Some(line), column: Some(column), ..self }
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
        f.write_str(&self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for FolderProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        let noun = if count == 1 { "problem" } else { "problems" };
        write!(f, "the files have {count} {noun}, so they can't be applied")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}

/// A value in a message: in backticks, control characters escaped, cut when long.
pub(crate) struct QuotedTierValue<'a>(pub(crate) &'a str);

impl fmt::Display for QuotedTierValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        let cut = self.0.chars().count() > LONGEST;
        let start: String = self.0.chars().take(LONGEST).collect();
        write!(f, "`{}{}`", start.escape_debug(), if cut { "…" } else { "" })
    }
}
