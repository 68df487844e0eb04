//! What a call used, as the provider counted it.

use serde::{Deserialize, Serialize};

/// Tokens of one attempt. `input` does not include what came from or went into a cache, on every wire alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub input: u64,
    /// Includes thinking.
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    /// The part of `output` that was thinking, where the provider says.
    pub thinking: u64,
    /// The provider sent no count, so these are ours.
    pub estimated: bool,
}

impl TokenUsage {
    pub fn total(&self) -> u64 {
        [self.output, self.cache_read, self.cache_write_5m, self.cache_write_1h]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }
}
