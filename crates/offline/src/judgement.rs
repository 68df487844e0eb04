//! How sure an answer is, before it is given.

use crate::plan::SURE;

/// What the offline model would do with a request, and how sure it is of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// From 0 to 1. Of answers at [`SURE`] and above, at least 99 in 100 are right.
    pub confidence: f32,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Calls a tool.
    Act,
    /// Asks back.
    Ask,
    /// Greets, thanks, gives something up.
    Talk,
    /// Puts a tool's result into words.
    Tell,
    /// Does not know what is wanted.
    Unknown,
}

impl Judgement {
    /// Whether no other model is needed.
    pub fn is_sure(&self) -> bool {
        self.confidence >= SURE && self.verdict != Verdict::Unknown
    }
}
