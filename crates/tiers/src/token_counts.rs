//! How many tokens a tier's text takes, counted once when it is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::draft::Tier;
use crate::prompt::{self, PromptSection};

/// Tokens by block, in the product's own tokenizer; a wire's factor is for those who call one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierTokenCounts {
    pub total: u64,
    pub blocks: BTreeMap<String, u64>,
}

/// Counts what of a tier goes into every prompt, as the prompt has it.
pub fn count_tier_tokens(tier: &Tier) -> TierTokenCounts {
    let written = prompt::count_block_tokens(tier);
    let blocks: BTreeMap<String, u64> =
        written.map(|(section, tokens)| (name(section).to_owned(), u64::from(tokens))).collect();
    TierTokenCounts { total: blocks.values().sum(), blocks }
}

/// What a block is called within its tier.
const fn name(section: PromptSection) -> &'static str {
    match section {
        PromptSection::Soul => "soul",
        PromptSection::Identity => "identity",
        PromptSection::Voice => "voice",
        PromptSection::Language => "language",
        PromptSection::Role => "role",
        PromptSection::Sops => "sops",
        PromptSection::Handoffs => "handoffs",
        PromptSection::Contract => "contract",
        PromptSection::Fences => "fences",
        PromptSection::Guidance => "tools",
        _ => "guardrails",
    }
}
