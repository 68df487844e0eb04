//! How many tokens a tier's text takes, counted once when it is stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::draft::Tier;
use crate::prompt::{self, Section};

/// Tokens by block, in the product's own tokenizer; a wire's factor is for those who call one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub total: u64,
    pub blocks: BTreeMap<String, u64>,
}

/// Counts what of a tier goes into every prompt, as the prompt has it.
pub fn measure(tier: &Tier) -> Tokens {
    let written = prompt::written(tier);
    let blocks: BTreeMap<String, u64> =
        written.map(|(section, tokens)| (name(section).to_owned(), u64::from(tokens))).collect();
    Tokens { total: blocks.values().sum(), blocks }
}

/// What a block is called within its tier.
const fn name(section: Section) -> &'static str {
    match section {
        Section::Soul => "soul",
        Section::Identity => "identity",
        Section::Voice => "voice",
        Section::Language => "language",
        Section::Role => "role",
        Section::Sops => "sops",
        Section::Handoffs => "handoffs",
        Section::Contract => "contract",
        Section::Fences => "fences",
        Section::Guidance => "tools",
        _ => "guardrails",
    }
}
