//! Amounts with a minus before them: taken away, or only after a dash.

use crate::numbers::{Certainty, NumberSpan};
use crate::tokenized_message::{TokenizedMessage, is_short_rupee};

const WORDS: &[&str] = &["minus", "मायनस", "माइनस", "মাইনাস", "માઇનસ", "ਮਾਈਨਸ", "மைனஸ்", "మైనస్", "ಮೈನಸ್", "മൈനസ്"];

/// The minus right before a token. A dash between two words or digits is none: Ramesh - 500, 5-7.
pub(super) fn find_before(reader: &TokenizedMessage<'_>, at: usize) -> Option<usize> {
    let place = at.checked_sub(1)?;
    let sign = reader.token(place)?;
    if WORDS.iter().any(|word| sign.text.eq_ignore_ascii_case(word)) {
        return Some(place);
    }
    let dash = matches!(sign.text, "-" | "\u{2212}" | "\u{2013}");
    let begins = place == 0
        || !sign.glued
        || reader
            .token_before(place)
            .is_some_and(|token| is_short_rupee(token) || matches!(token.text, "." | ":" | "("));
    (dash && begins && reader.token(at)?.glued).then_some(place)
}

/// Reads a number both ways. The dash before an amount is most often a minus where nothing else could be: at the
/// beginning, beside a rupee sign.
pub(super) fn doubt(reader: &TokenizedMessage<'_>, found: &mut NumberSpan, minus: usize, marked: bool) {
    let sign = reader.token(minus);
    let word = sign.is_some_and(crate::token::MessageToken::is_word);
    let alone = marked || minus == 0 || sign.is_some_and(|sign| sign.glued);
    let negative = found.spoken.readings.iter().map(|value| value.negative());
    found.spoken.readings = match word || alone {
        true => negative.chain(found.spoken.readings.iter().copied()).collect(),
        false => found.spoken.readings.iter().copied().chain(negative).collect(),
    };
    found.spoken.certainty = Certainty::Ambiguous;
}
