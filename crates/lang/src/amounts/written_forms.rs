//! Fractions written with a stroke, and decimals with a word for their point.

use super::is_countable;
use crate::lexicon::Meaning;
use crate::number::Number;
use crate::numbers::{Certainty, NumberReadings, NumberSpan};
use crate::token::MessageTokenKind;
use crate::tokenized_message::TokenizedMessage;

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
pub(super) fn read_slashed(reader: &TokenizedMessage<'_>, from: usize) -> Option<NumberSpan> {
    match read_fraction(reader, from) {
        Some(part) => apply_scale(reader, from, from + 3, part),
        None => read_alternatives(reader, from),
    }
}

/// Five or six thousand, written 5/6 hazaar.
fn read_alternatives(reader: &TokenizedMessage<'_>, from: usize) -> Option<NumberSpan> {
    let digits = |at: usize| {
        let token = reader.token(at).filter(|token| token.kind == MessageTokenKind::Digits)?;
        Number::from_decimal(&crate::numbers::digits::to_ascii(token.text))
    };
    reader.token(from + 1).filter(|token| token.text == "/" && token.glued)?;
    let (low, high) = (digits(from)?, digits(from + 2)?);
    let [mut one, other] = [low, high].map(|value| apply_scale(reader, from, from + 3, value));
    let high = other
        .filter(|high| low < high.spoken.readings.first().copied().unwrap_or_default() && high.scaled)?;
    let found = one.as_mut()?;
    found.spoken.readings.extend(high.spoken.readings);
    found.spoken.certainty = Certainty::Ambiguous;
    one
}

/// Letters that look like digits among digits (5OO, l00, 1o0), and Tamil's signs for ten, hundred and thousand. What
/// is meant is read, and asked about.
pub(super) fn read_mistyped(reader: &TokenizedMessage<'_>, from: usize) -> Option<NumberSpan> {
    let token = reader.token(from)?;
    reader.token(from + 1).filter(|next| next.glued)?;
    let sign = match reader.token(from + 1).filter(|sign| sign.glued).map(|sign| sign.text) {
        Some("௰") => Some(10),
        Some("௱") => Some(100),
        Some("௲") => Some(1_000),
        _ => None,
    };
    if let Some(sign) = sign.filter(|_| token.kind == MessageTokenKind::Digits) {
        let value = Number::from_decimal(&crate::numbers::digits::to_ascii(token.text))?.checked_mul(sign)?;
        return Some(doubtful_span(from, from + 2, value));
    }
    let mut plain = String::new();
    let (mut digits, mut letters, mut to) = (0, 0, from);
    while let Some(token) = reader.token(to).filter(|token| to == from || token.glued) {
        let followed =
            reader.token(to + 1).is_some_and(|next| next.glued && next.kind == MessageTokenKind::Digits);
        let looks = |letter: char| match letter {
            'o' | 'O' => Some('0'),
            'l' | 'I' if followed => Some('1'),
            _ => None,
        };
        if token.kind == MessageTokenKind::Digits {
            plain.push_str(&crate::numbers::digits::to_ascii(token.text).replace(',', ""));
            digits += 1;
        } else if let Some(read) = token.text.chars().map(looks).collect::<Option<String>>()
            && token.is_word()
        {
            plain.push_str(&read);
            letters += 1;
        } else {
            break;
        }
        to += 1;
    }
    let glued = reader.token(to).is_some_and(|next| next.glued && next.is_word() && digits < 2);
    let whole = digits > 0 && letters > 0 && plain.len() > 1 && !glued;
    Number::from_decimal(&plain).filter(|_| whole).map(|value| doubtful_span(from, to, value))
}

fn doubtful_span(from: usize, to: usize, value: Number) -> NumberSpan {
    let mut doubted = exact_span(from, to, value, false);
    doubted.spoken.certainty = Certainty::Ambiguous;
    doubted
}

/// Whether a fraction with its scale or its unit begins at a token; 1/2 is else the first of February.
pub(crate) fn is_fraction(reader: &TokenizedMessage<'_>, from: usize) -> bool {
    read_slashed(reader, from).is_some()
}

/// 1 1/2 and 1-1/2 before a unit or a scale.
pub(super) fn read_mixed(reader: &TokenizedMessage<'_>, from: usize) -> Option<NumberSpan> {
    let whole = reader.token(from).filter(|token| token.kind == MessageTokenKind::Digits)?;
    let whole = Number::from_decimal(&crate::numbers::digits::to_ascii(whole.text))?;
    let hyphen = usize::from(reader.token(from + 1).is_some_and(|token| matches!(token.text, "-" | "+")));
    let at = from + 1 + hyphen;
    let part = read_fraction(reader, at)?;
    apply_scale(reader, from, at + 3, whole.checked_add(part)?).or_else(|| read_slashed(reader, from))
}

/// Two point five, point five, before a scale or not.
pub(super) fn read_decimal_words(reader: &TokenizedMessage<'_>, from: usize) -> Option<NumberSpan> {
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
    apply_scale(reader, from, to, value).or_else(|| Some(exact_span(from, to, value, false)))
}

fn digits_at(reader: &TokenizedMessage<'_>, at: usize) -> Option<u64> {
    let value = reader.numbers(at, at + 1).find_map(|found| found.spoken.readings.first()?.as_whole())?;
    (value < 100).then_some(value)
}

/// The hundredths of a fraction that begins at a token.
fn read_fraction(reader: &TokenizedMessage<'_>, from: usize) -> Option<Number> {
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
fn apply_scale(reader: &TokenizedMessage<'_>, from: usize, to: usize, value: Number) -> Option<NumberSpan> {
    let scale = reader.find(to, |meaning| match meaning {
        Meaning::Scale(scale) => Some(scale),
        _ => None,
    });
    match scale {
        Some(scale) => Some(exact_span(from, to + 1, value.checked_mul(scale)?, true)),
        None => is_countable(reader, to).then(|| exact_span(from, to, value, false)),
    }
}

fn exact_span(from: usize, to: usize, value: Number, scaled: bool) -> NumberSpan {
    let spoken = NumberReadings { certainty: Certainty::Exact, readings: vec![value] };
    NumberSpan { from, to, spoken, weak: false, scaled, digits: false, guessed: false, bare_scale: false }
}
