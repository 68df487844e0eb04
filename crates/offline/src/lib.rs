//! The model that needs no key: a provider like any other, for when there is no key, no network, or no model is
//! needed.
//!
//! It reads the same request as every model. Which of the offered tools is meant it tells by their own phrases and
//! examples; arguments come from what `lang` reads in the message, fitted to the tool's schema; what is missing or may
//! mean two things is asked for, in the person's language and script. It never invents: below its threshold it says
//! what it can do here. A sentence that asks, denies or supposes is never written down.
//!
//! No tool, pack or channel is named in this crate.
//!
//! # Layout
//! - [`provider`]: [`OfflineProvider`], the provider; [`judgement`]: how sure it is
//! - `turn`, `follow_up`: one turn of a conversation, and one after a question; `question`: the question in between;
//!   `question_context`: what an answer says of it and beside it
//! - `reading`, `reclassify`, `mood`, `spans`, `name_roles`, `stems`, `clauses`, `small_words`: a message by its grammar
//! - `bare_counts`: numbers that count things; `prepared_tools`: tools made ready; `tool_view`: a message through them; `rank`: which one is meant; `coverage`,
//!   `name_check`, `intent`: and how surely
//! - `fill`, `date_arguments`: arguments; `json`: answers of a schema
//! - `localized_phrasebook`, `result_wording`: words for people
//!
//! # To have a request recognised
//! Give the tool phrases and examples; `docs/models.md` says how they and the schema are read. The small words in `words/` are grammar: add
//! to them when a language marks giving and taking, asking or denying in a way that is not there yet. Sentences for both are in
//! `tests/said/`; those that must never be written down are in its `unsaid.txt`.

mod bare_counts;
mod clauses;
mod coverage;
mod date_arguments;
mod fill;
mod follow_up;
mod intent;
mod json;
pub mod judgement;
mod localized_phrasebook;
mod mood;
mod name_check;
mod name_roles;
mod prepared_tools;
pub mod provider;
mod question;
mod question_context;
mod rank;
mod reading;
mod reclassify;
mod result_wording;
mod small_words;
mod spans;
mod stems;
mod tool_view;
mod turn;

pub use intent::SURE;
pub use judgement::{OfflineJudgement, OfflineVerdict};
pub use provider::OfflineProvider;
