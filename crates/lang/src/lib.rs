//! Understands eleven languages in their own scripts and in Latin letters, and speaks them.
//!
//! The rule for money: right, or visibly unsure, never silently wrong. So a reading says whether it is exact,
//! and when it is not, what else it may be. Nothing here does I/O or asks a model.
//!
//! # Layout
//! - [`fold`]: words of every script and spelling brought to one key
//! - [`lexicon`]: the words themselves, compiled from `lexicon/` by the build script
//! - [`text_words`]: the words of a long text, for searching; [`checksums`]: the sums that identity numbers keep
//! - [`token`]: a message cut into words, digits and signs
//! - [`detect`]: which language and script
//! - [`number`], [`numbers`]: number words and digits
//! - `name_likelihood`: number words that are somebody's name
//! - [`amounts`], `identifiers`: what each number counts, or names
//! - [`yes_no`]: yes or no to a question; [`consent_withdrawal`]: taking back what one agreed to
//! - [`list_position`]: which of a list
//! - [`dates`]: days, stretches of days, clock times
//! - [`names`]: people across scripts, and a directory of contacts
//! - [`format`]: amounts, days, times and lists as people read them
//! - [`phrasebook`]: what the product says without a model
//! - [`search`]: words as an index keeps them
//! - [`understand`]: all of it for one message
//!
//! To add a spelling, add it to its line in `lexicon/`; `lexicon/README.md` says how the files read.

pub mod amounts;
pub mod checksums;
pub mod consent_withdrawal;
pub mod dates;
pub mod detect;
pub mod fold;
pub mod format;
mod identifiers;
pub mod lexicon;
pub mod list_position;
mod name_likelihood;
pub mod names;
pub mod number;
pub mod numbers;
mod ordinal;
pub mod phrasebook;
pub mod search;
pub mod text_words;
pub mod token;
mod tokenized_message;
pub mod understand;
pub mod unit;
pub mod yes_no;

pub use amounts::{NumberKind, NumberMention};
pub use dates::{DateExpression, DateMention, DateReading, DateSide};
pub use detect::{LanguageDetection, ScriptForm, choose_language, detect};
pub use format::Locale;
#[doc(no_inline)]
pub use munshi_types::Language;
pub use names::directory::{ContactCandidate, ContactDirectory, NameMention};
pub use number::Number;
pub use numbers::Certainty;
pub use phrasebook::{PhraseError, Phrasebook, PlaceholderValue};
pub use search::{query_tokens, search_tokens};
pub use understand::{MessageUnderstanding, UnderstandingContext, understand};
pub use unit::MeasureUnit;
