//! One broken rule, as one line.

use std::fmt;

/// Sorts by place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// From the repository's root.
    pub path: String,
    pub line: usize,
    pub what: String,
    /// What to do about it.
    pub advice: String,
}

impl Finding {
    pub fn new(path: &str, line: usize, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), advice: advice.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.what, self.advice)
    }
}
