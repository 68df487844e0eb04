//! A problem in words: where, what, and what to do about it.

use std::fmt;

/// One problem as people read it: `place: key: what`, and the hint on a line below.
#[derive(Clone, Copy)]
pub struct ProblemText<'a> {
    pub place: &'a dyn fmt::Display,
    /// The key it is about, such as `server.listen`.
    pub key: Option<&'a str>,
    pub what: &'a str,
    pub hint: Option<&'a str>,
}

impl fmt::Display for ProblemText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(key) = self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(self.what)?;
        match self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// "1 problem", "2 problems"
pub fn count_problems(count: usize) -> String {
    format!("{count} {}", if count == 1 { "problem" } else { "problems" })
}

/// A value in a message: in backticks, control characters escaped, cut when long.
pub struct QuotedValue<'a>(pub &'a str);

impl fmt::Display for QuotedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        let cut = self.0.chars().count() > LONGEST;
        let start: String = self.0.chars().take(LONGEST).collect();
        write!(f, "`{}{}`", start.escape_debug(), if cut { "…" } else { "" })
    }
}
