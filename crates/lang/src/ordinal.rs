//! Numbers that say which, not how many: 15th, 5वीं, ২১শে.

use crate::number::Number;
use crate::numbers::digits;
use crate::token::MessageTokenKind;
use crate::tokenized_message::TokenizedMessage;

/// What is written onto digits to make them an ordinal.
pub(crate) const ENDINGS: &[&str] = &[
    "th",
    "st",
    "nd",
    "rd",
    "va",
    "vi",
    "ve",
    "vaan",
    "veen",
    "mi",
    "mo",
    "vathu",
    "vadhu",
    "aam",
    "ne",
    "वां",
    "वाँ",
    "वीं",
    "वें",
    "वा",
    "वी",
    "वे",
    "व्या",
    "रा",
    "री",
    "रे",
    "था",
    "थी",
    "ম",
    "য়",
    "তম",
    "ই",
    "শে",
    "লা",
    "রা",
    "ঠা",
    "મી",
    "મો",
    "મું",
    "લી",
    "લો",
    "જી",
    "જો",
    "ਵੀਂ",
    "ਵਾਂ",
    "ਵੇਂ",
    "ମ",
    "ୟ",
    "ஆம்",
    "ம்",
    "ஆவது",
    "வது",
    "వ",
    "వది",
    "ನೇ",
    "ನೆಯ",
    "ನೆ",
    "ാം",
    "ആം",
    "മത്",
    "-ാം",
];

/// Those that are also written apart from their digits.
const APART: &[&str] = &["ஆம்", "ஆவது", "వ", "ನೇ", "ആം", "th", "vi", "वीं", "वां"];

/// Nobody counts places past this in a message; 500ने is a case ending.
const MOST: u64 = 99;

/// One past the ending that makes an ordinal of the digits at a token.
pub(crate) fn find_end(reader: &TokenizedMessage<'_>, at: usize) -> Option<usize> {
    let written = reader.token(at).filter(|token| token.kind == MessageTokenKind::Digits)?;
    let value = Number::from_decimal(&digits::to_ascii(written.text))?.as_whole()?;
    let hyphen = reader.token(at + 1).is_some_and(|token| token.text == "-" && token.glued);
    let place = at + 1 + usize::from(hyphen);
    let ending = reader.token(place)?;
    let is = |known: &&str| ending.text.eq_ignore_ascii_case(known) || is_same_spelling(ending.text, known);
    let fits = if ending.glued { ENDINGS.iter().any(&is) } else { APART.iter().any(is) };
    ((1..=MOST).contains(&value) && fits).then_some(place + 1)
}

/// Whether two texts are one spelling, however their letters are put together.
fn is_same_spelling(one: &str, other: &str) -> bool {
    !one.is_ascii() && crate::fold::normalize_spelling(one) == crate::fold::normalize_spelling(other)
}
