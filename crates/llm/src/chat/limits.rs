//! How much more a provider will take, as its headers say.

use std::time::Duration;

/// Empty where the provider says nothing, as local servers do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    pub requests: Option<RateLimitWindow>,
    pub tokens: Option<RateLimitWindow>,
    pub input_tokens: Option<RateLimitWindow>,
    pub output_tokens: Option<RateLimitWindow>,
}

/// One limit in its present window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimitWindow {
    pub limit: Option<u64>,
    pub remaining: Option<u64>,
    /// From when the headers came.
    pub resets_in: Option<Duration>,
}

impl RateLimits {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// When the longest of the used-up limits is filled again.
    pub fn time_until_reset(&self) -> Option<Duration> {
        let all = [self.requests, self.tokens, self.input_tokens, self.output_tokens];
        let used_up = all.into_iter().flatten().filter(|allowance| allowance.remaining == Some(0));
        used_up.filter_map(|allowance| allowance.resets_in).max()
    }
}
