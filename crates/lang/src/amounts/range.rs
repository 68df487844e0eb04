//! Numbers said side by side that belong together.

use super::ambiguity::reconcile_languages;
use crate::lexicon::Meaning;
use crate::number::Number;
use crate::numbers::{Certainty, NumberReadings, NumberSpan};
use crate::tokenized_message::TokenizedMessage;

/// A number with what follows it, when that belongs to it; and whether they are the ends of a range.
pub(super) fn join_range(reader: &TokenizedMessage<'_>, low: NumberSpan) -> (NumberSpan, bool) {
    let between = low.from.checked_sub(1).and_then(|at| reader.token(at));
    let between = between.is_some_and(|token| token.text.eq_ignore_ascii_case("between"));
    let (next, said) = match reader.token(low.to) {
        Some(token) if between && token.text.eq_ignore_ascii_case("and") => (low.to + 1, true),
        Some(token) if matches!(token.text, "-" | "–" | "—") => (low.to + 1, true),
        Some(_) if reader.means(low.to, Meaning::To) || reader.means(low.to, Meaning::Range) => {
            (low.to + 1, true)
        }
        _ => (low.to, false),
    };
    let Some(high) = reconcile_languages(reader, next) else { return (low, false) };
    let [from] = *low.spoken.readings.as_slice() else { return (low, false) };
    let [to] = *high.spoken.readings.as_slice() else { return (low, false) };
    if is_each(from, to, &low, &high) {
        return (NumberSpan { from: low.from, ..high }, false);
    }
    if let Some(from) = low_end(from, to, &low, &high, said) {
        let spoken = NumberReadings { certainty: Certainty::Ambiguous, readings: vec![from, to] };
        return (NumberSpan { to: high.to, spoken, weak: false, scaled: high.scaled, ..low }, true);
    }
    // Bengal also counts in scores: dui kuri.
    let score = reader.token(next).is_some_and(|token| token.key == "kuri") && to == Number::from_whole(20);
    if let Some(value) = from.checked_mul(20).filter(|_| score && !said && high.to == next + 1) {
        let spoken = NumberReadings { certainty: Certainty::Ambiguous, readings: vec![value, to] };
        return (NumberSpan { to: high.to, spoken, weak: false, ..low }, false);
    }
    if let Some(value) = compose_hundreds(from, to, &low, &high).filter(|_| !said) {
        let spoken = NumberReadings { certainty: Certainty::Ambiguous, readings: vec![value, to] };
        return (NumberSpan { to: high.to, spoken, weak: false, ..low }, false);
    }
    (low, false)
}

/// Said twice it means each: sau sau, paanch-paanch sau.
fn is_each(from: Number, to: Number, low: &NumberSpan, high: &NumberSpan) -> bool {
    let scaled_up = !low.scaled
        && high.scaled
        && [100, 1_000, 100_000, 10_000_000].into_iter().any(|scale| from.checked_mul(scale) == Some(to));
    !low.digits && !high.digits && (from == to || scaled_up)
}

/// The low end of a range, when the two numbers are one: 500 se 600, do teen sau.
fn low_end(from: Number, to: Number, low: &NumberSpan, high: &NumberSpan, said: bool) -> Option<Number> {
    if low.digits != high.digits && !high.scaled {
        return None;
    }
    let from = scale_up(from, to, low.scaled, high.scaled)?;
    // Without a word between them only neighbours make a range: do teen, das barah.
    let neighbours = !low.digits
        && to.checked_sub(from)? <= from
        && to <= from.checked_mul(2)?.checked_add(Number::from_whole(1))?;
    let said_well = said && (!high.weak || !low.weak || neighbours);
    (to > from && (said_well || neighbours)).then_some(from)
}

/// The low end under the high end's scale: the 2 of 2-3 lakh.
fn scale_up(from: Number, to: Number, scaled: bool, high_scaled: bool) -> Option<Number> {
    if scaled || !high_scaled {
        return Some(from);
    }
    [10_000_000, 100_000, 1_000, 100]
        .into_iter()
        .filter_map(|scale| from.checked_mul(scale))
        .find(|lifted| *lifted < to && to.checked_sub(*lifted).is_some_and(|gap| gap <= *lifted))
        .or(Some(from))
}

/// Prices are often said without their hundred: two fifty, do pachas.
fn compose_hundreds(from: Number, to: Number, low: &NumberSpan, high: &NumberSpan) -> Option<Number> {
    // Ek saath is "together".
    let words = !low.digits && !high.digits && !low.scaled && !high.scaled && !high.weak;
    let hundreds = from.as_whole().filter(|count| words && (1..10).contains(count))?;
    let rest = to.as_whole().filter(|rest| (10..100).contains(rest))?;
    Some(Number::from_whole(hundreds * 100 + rest))
}
