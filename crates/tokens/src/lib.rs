//! Counts tokens as OpenAI's `o200k_base` does.
//!
//! Every turn counts, on every machine, also with no model at hand. So the vocabulary lies in the program as tables
//! that are searched in place: nothing is loaded at start and nothing is held in memory but the pages that are read.
//!
//! # Layout
//! - [`pre_tokens`]: text cut into words, numbers, signs and whitespace
//! - [`merge`]: a piece's bytes merged into tokens
//! - [`vocabulary`]: which bytes are a token; laid out by `build.rs` from `data/o200k_base`
//!
//! The counts are compared with another implementation's in `soak/`.

mod hash;
mod merge;
mod pre_tokens;
mod vocabulary;

/// How many tokens the text becomes.
pub fn count(text: &str) -> u64 {
    let mut merger = merge::Merger::default();
    pre_tokens::split(text).map(|piece| merger.count(piece.as_bytes())).sum()
}
