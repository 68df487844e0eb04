//! How sure an answer is, before it is given.

use crate::intent::SURE;

/// What the offline model would do with a request, and how sure it is of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfflineJudgement {
    /// From 0 to 1. Of answers at [`SURE`] and above, at least 99 in 100 are right.
    pub confidence: f32,
    pub verdict: OfflineVerdict,
    /// Whether it is made of nothing but calls of tools that need no model and the phrases that tell their results.
    pub is_template: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfflineVerdict {
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

impl OfflineJudgement {
    pub(crate) const fn new(verdict: OfflineVerdict, confidence: f32) -> Self {
        Self { confidence, verdict, is_template: false }
    }

    /// Whether no other model is needed.
    pub fn is_sure(&self) -> bool {
        self.confidence >= SURE && self.verdict != OfflineVerdict::Unknown
    }
}
