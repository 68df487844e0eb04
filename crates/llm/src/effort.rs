//! How hard to think, for providers that take a word instead of a number of tokens.

use serde::Serialize;

use crate::chat::ThinkingBudget;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ThinkingEffort {
    Low,
    Medium,
    High,
}

impl ThinkingEffort {
    pub(crate) const fn of(wanted: ThinkingBudget) -> Self {
        match wanted.budget_tokens {
            ..=2048 => Self::Low,
            2049..=8192 => Self::Medium,
            _ => Self::High,
        }
    }
}
