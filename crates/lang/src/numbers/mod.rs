//! Numbers in words and digits: found, put together, and honest about doubt.
//!
//! - `compose`: the grammar of groups and scales
//! - `digits`: runs of digits and their commas
//! - `lexeme`: what one token contributes
//! - `language_lexemes`: a message's tokens read in one language
//! - `segment`: words that hold several number words

mod compose;
pub(crate) mod digits;
mod language_lexemes;
mod lexeme;
mod segment;

use serde::Serialize;

use crate::number::Number;

pub(crate) use language_lexemes::LanguageLexemes;
pub(crate) use lexeme::{
    CreditLikelihood, begins_with_scale, credit_likelihood, find_number_languages, is_run_together,
    looks_like_number,
};

/// Right, or visibly unsure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    Exact,
    Ambiguous,
}

/// What a run of words or digits may mean; the likeliest reading first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberReadings {
    pub certainty: Certainty,
    pub readings: Vec<Number>,
}

/// A part a number is put together from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberPart {
    Cardinal(u64),
    Digits(Number),
    Scale(u64),
    Plus(u16),
    Minus(u16),
    Fraction(u16),
    Suffix(u16),
    /// Turns the number before it into quarters: three quarters.
    Quarters,
}

/// A number found in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberSpan {
    /// The tokens it covers: from, and one past the last.
    pub from: usize,
    pub to: usize,
    pub spoken: NumberReadings,
    /// It rests on words that are also ordinary words or names, or on a near spelling: without something
    /// beside it that speaks of numbers it is none.
    pub weak: bool,
    /// It has a scale word in it: do lakh, 2k.
    pub scaled: bool,
    /// It is digits and nothing else.
    pub digits: bool,
    /// It rests on a spelling nobody listed.
    pub guessed: bool,
    /// It begins with its scale: hazaar, without ek.
    pub bare_scale: bool,
}
