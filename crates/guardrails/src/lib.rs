//! Rules that stand in the prompt and run again, as code, on what the model answers.
//!
//! A reply leaves sentence by sentence: [`GuardrailChecker`] takes what the model streams and hands out what may be sent.
//! A rule blocks a sentence (a phrase is said instead), rewrites it, or only logs. All rules read one
//! normalised form of the text, so that spaced, dotted and disguised letters are read once, for all of them.
//!
//! Pure code: no database, no clock, no model.
//!
//! Not here: which rules a binding has (`munshi_tiers::build_rule_set`), what the turn knows (`munshi-agent` fills
//! [`GuardrailContext`]), and what may be done, which is no rule over words but `munshi-safety`.
//!
//! # Layout
//! - `rule`: [`GuardrailRule`] and what it finds; `context`: what rules know of the turn
//! - `rule_set`: [`GuardrailRuleSet`], the rules of a binding; `checker`: [`GuardrailChecker`], the stream
//! - `custom`: [`PatternRule`], a tenant's own rule
//! - `letters`, `tokens`, `joins`: the normalised text and its way back to the original; `text_traits`: what it has at all
//! - `classes`, `table`, `lexicon`: word classes, from the files of `lexicon/`
//! - `reading`, `amounts`, `clauses`, `pattern`: words with their classes in clauses, and what is looked for in them
//! - `sentences`, `price`, `digits`, `shapes`: where sentences end, prices, long numbers, what looks like code
//! - `whispered_numbers`: numbers that colleagues told in confidence
//! - `message_signals`: what the person asks or tells, for the turn
//! - `rules/`: one file a rule
//!
//! To add a rule: a file in `rules/` with its tests, its line in `rules/mod.rs`, its words in `lexicon/`, its cases in
//! `tests/cases/`, and its row in `docs/guardrails.md`.

mod amounts;
mod checker;
mod classes;
mod clauses;
mod context;
mod custom;
mod digits;
mod joins;
mod letters;
mod lexicon;
mod message_signals;
mod pattern;
mod phrases;
mod price;
mod reading;
mod rule;
mod rule_set;
mod rules;
mod sentences;
mod shapes;
mod table;
mod text_traits;
mod tokens;
mod whispered_numbers;

pub use checker::{ClearedOutput, GuardrailChecker, ReplyPiece};
pub use context::{AllowedLanguage, CatalogItem, ElectionMode, GuardrailContext, PromptFingerprint};
pub use custom::{PatternRule, PatternRules};
pub use message_signals::MessageSignals;
pub use phrases::add_phrases;
pub use rule::{GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier, GuardrailViolation};
pub use rule_set::{GuardrailParameters, GuardrailRuleSet, GuardrailVerdict, UnknownGuardrailRule};
pub use rules::price_cooldown;
pub use sentences::split_sentences;
