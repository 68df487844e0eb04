//! Fractions written with a stroke, and decimals with a word for their point.

use super::counts;
use crate::lexicon::Meaning;
use crate::number::Number;
use crate::numbers::{Certainty, Found, Spoken};
use crate::reader::Reader;
use crate::token::Kind;

/// The words for a decimal point, as written.
const POINT: &[&str] = &[
    "point",
    "poynt",
    "dashamlav",
    "dashmlav",
    "dashamlov",
    "dashansh",
    "doshomik",
    "dashamik",
    "pulli",
    "bindu",
    "दशमलव",
    "दशांश",
    "पॉइंट",
    "पॉइन्ट",
    "पाइंट",
    "দশমিক",
    "পয়েন্ট",
    "દશાંશ",
    "પોઇન્ટ",
    "પોઈન્ટ",
    "ਦਸ਼ਮਲਵ",
    "ਪੁਆਇੰਟ",
    "ਪੌਇੰਟ",
    "புள்ளி",
    "பாயிண்ட்",
    "పాయింట్",
    "దశాంశం",
    "ಬಿಂದು",
    "ಪಾಯಿಂಟ್",
    "ದಶಮಾಂಶ",
    "പോയിന്റ്",
    "ദശാംശം",
    "ଦଶମିକ",
    "ପଏଣ୍ଟ",
];

/// 1/2 and 3/4 before a unit or a scale.
pub(super) fn slashed(reader: &Reader<'_>, from: usize) -> Option<Found> {
    let part = stroke(reader, from)?;
    under_scale(reader, from, from + 3, part)
}

/// Whether a fraction with its scale or its unit begins at a token; 1/2 is else the first of February.
pub(crate) fn is_fraction(reader: &Reader<'_>, from: usize) -> bool {
    slashed(reader, from).is_some()
}

/// 1 1/2 and 1-1/2 before a unit or a scale.
pub(super) fn mixed(reader: &Reader<'_>, from: usize) -> Option<Found> {
    let whole = reader.token(from).filter(|token| token.kind == Kind::Digits)?;
    let whole = Number::from_decimal(&crate::numbers::digits::ascii(whole.text))?;
    let hyphen = usize::from(reader.token(from + 1).is_some_and(|token| matches!(token.text, "-" | "+")));
    let at = from + 1 + hyphen;
    let part = stroke(reader, at)?;
    under_scale(reader, from, at + 3, whole.plus(part)?).or_else(|| slashed(reader, from))
}

/// Two point five, point five, before a scale or not.
pub(super) fn point(reader: &Reader<'_>, from: usize) -> Option<Found> {
    let is_point =
        |at: usize| reader.token(at).is_some_and(|token| POINT.contains(&token.text.to_lowercase().as_str()));
    let (whole, at) = if is_point(from) {
        (Number::ZERO, from)
    } else {
        let end = (from + 1..from + 5).find(|at| is_point(*at))?;
        let whole = reader.numbers(from, end).find(|found| found.to == end)?;
        (*whole.spoken.readings.first()?, end)
    };
    let mut digits = String::new();
    let mut to = at + 1;
    while let Some(value) = digits_at(reader, to).filter(|_| digits.len() < 3) {
        digits.push_str(&value.to_string());
        to += 1;
    }
    let value =
        Number::from_decimal(&format!("{}.{digits}", whole.as_whole()?)).filter(|_| !digits.is_empty())?;
    under_scale(reader, from, to, value).or_else(|| Some(found(from, to, value, false)))
}

fn digits_at(reader: &Reader<'_>, at: usize) -> Option<u64> {
    let value = reader.numbers(at, at + 1).find_map(|found| found.spoken.readings.first()?.as_whole())?;
    (value < 100).then_some(value)
}

/// The hundredths of a fraction that begins at a token.
fn stroke(reader: &Reader<'_>, from: usize) -> Option<Number> {
    let glued = |at: usize| reader.token(at).filter(|token| token.glued).map(|token| token.text);
    let hundredths = match (reader.token(from)?.text, glued(from + 1)?, glued(from + 2)?) {
        ("1", "/", "2") => 50,
        ("1", "/", "4") => 25,
        ("3", "/", "4") => 75,
        _ => return None,
    };
    Some(Number::from_hundredths(hundredths))
}

/// A number with the scale after it; none when neither a scale nor what numbers count follows.
fn under_scale(reader: &Reader<'_>, from: usize, to: usize, value: Number) -> Option<Found> {
    let scale = reader.find(to, |meaning| match meaning {
        Meaning::Scale(scale) => Some(scale),
        _ => None,
    });
    match scale {
        Some(scale) => Some(found(from, to + 1, value.times(scale)?, true)),
        None => counts(reader, to).then(|| found(from, to, value, false)),
    }
}

fn found(from: usize, to: usize, value: Number, scaled: bool) -> Found {
    let spoken = Spoken { certainty: Certainty::Exact, readings: vec![value] };
    Found { from, to, spoken, weak: false, scaled, digits: false, guessed: false, bare_scale: false }
}
