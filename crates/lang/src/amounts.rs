//! The numbers of a message, and what each of them counts.

use serde::Serialize;

use crate::identifiers::{self, Naming};
use crate::lexicon::{Languages, Meaning};
use crate::number::Number;
use crate::numbers::{self, Certainty, Found, Spoken};
use crate::reader::{Reader, is_short_rupee};
use crate::token::Kind as TokenKind;
use crate::unit::Unit;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Money,
    Quantity,
    Plain,
    Phone,
    Date,
    Account,
}

/// A number as a message says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// The words or digits themselves.
    pub text: String,
    /// Where they begin in the message, in bytes.
    pub start: usize,
    /// The likeliest reading.
    pub value: Number,
    pub certainty: Certainty,
    /// All it may mean, the likeliest first; one when it is exact.
    pub readings: Vec<Number>,
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// The digits of a telephone or account number, as they must be kept: a leading zero counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digits: Option<String>,
    /// The readings are the ends of a range, not rivals.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub range: bool,
}

/// A number with its place among the tokens, before its neighbours have spoken.
struct Draft {
    from: usize,
    to: usize,
    spoken: Spoken,
    kind: Kind,
    unit: Option<Unit>,
    digits: Option<String>,
    range: bool,
    /// A currency word or sign stands by it.
    marked: bool,
    scaled: bool,
}

/// Every number of a message. `dated` are the tokens that dates and times rest on.
pub(crate) fn find(reader: &Reader<'_>, message: &str, dated: &[(usize, usize)]) -> Vec<Amount> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut at = 0;
    while at < reader.tokens.len() {
        let claimed = drafts.last().map_or(0, |draft| draft.to);
        match read(reader, at.max(claimed), claimed, dated) {
            Some(draft) => {
                at = draft.to.max(at + 1);
                drafts.push(draft);
            }
            None => at = at.max(claimed) + 1,
        }
    }
    join_paise(reader, &mut drafts);
    promote_bare(reader, &mut drafts);
    drafts.into_iter().filter_map(|draft| finish(reader, message, draft)).collect()
}

fn finish(reader: &Reader<'_>, message: &str, draft: Draft) -> Option<Amount> {
    let text = reader.text(message, draft.from, draft.to).to_owned();
    Some(Amount {
        text,
        start: reader.token(draft.from)?.start,
        value: *draft.spoken.readings.first()?,
        certainty: draft.spoken.certainty,
        readings: draft.spoken.readings,
        kind: draft.kind,
        unit: draft.unit,
        digits: draft.digits,
        range: draft.range,
    })
}

/// The number at a token; tokens before `claimed` belong to the one before.
fn read(reader: &Reader<'_>, at: usize, claimed: usize, dated: &[(usize, usize)]) -> Option<Draft> {
    if let Some((from, to)) = dated.iter().copied().find(|(from, to)| (*from..*to).contains(&at)) {
        return read_dated(reader, at, from, to);
    }
    if let Some(found) = identifiers::read(reader, at) {
        let value = Number::from_decimal(&found.digits).unwrap_or_default();
        let kind = if found.naming == Naming::Phone { Kind::Phone } else { Kind::Account };
        let spoken = Spoken { certainty: Certainty::Exact, readings: vec![value] };
        return Some(draft(at, found.to, spoken, kind, Some(found.digits)));
    }
    if let Some(found) = slashed(reader, at) {
        return classify(reader, found, claimed, false);
    }
    if let Some(found) = dictated(reader, at) {
        return Some(found);
    }
    let found = agree(reader, at)?;
    let (found, is_range) = range(reader, found);
    classify(reader, found, claimed, is_range)
}

fn draft(from: usize, to: usize, spoken: Spoken, kind: Kind, digits: Option<String>) -> Draft {
    Draft { from, to, spoken, kind, unit: None, digits, range: false, marked: false, scaled: false }
}

/// The number inside a date; the rest of the date is passed over.
fn read_dated(reader: &Reader<'_>, at: usize, from: usize, to: usize) -> Option<Draft> {
    // A word for a day has no number in it, whatever it sounds like.
    let counted = to > from + 1 || reader.token(from).is_some_and(|token| token.kind == TokenKind::Digits);
    if at != from || !counted {
        return None;
    }
    let found = (from..to).find_map(|at| numbers::read(reader.tokens.get(..to)?, at, reader.language()))?;
    Some(draft(from, to, found.spoken, Kind::Date, None))
}

/// 1/2 and 3/4 before a unit.
fn slashed(reader: &Reader<'_>, from: usize) -> Option<Found> {
    let glued =
        |at: usize, text: &str| reader.token(at).is_some_and(|token| token.glued && token.text == text);
    let hundredths = match (reader.token(from)?.text, reader.token(from + 2)?.text) {
        ("1", "2") => 50,
        ("1", "4") => 25,
        ("3", "4") => 75,
        _ => return None,
    };
    if !glued(from + 1, "/")
        || !reader.token(from + 2).is_some_and(|token| token.glued)
        || !counts(reader, from + 3)
    {
        return None;
    }
    let spoken = Spoken { certainty: Certainty::Exact, readings: vec![Number::from_hundredths(hundredths)] };
    Some(Found { from, to: from + 3, spoken, weak: false, scaled: false, digits: false, bare_scale: false })
}

/// Four single digits or more said one by one are a number to dial or to copy.
fn dictated(reader: &Reader<'_>, from: usize) -> Option<Draft> {
    let mut digits = String::new();
    let mut to = from;
    while let Some(token) = reader.token(to).filter(|token| token.is_word())
        && let Some(found) = numbers::read(std::slice::from_ref(token), 0, reader.language())
        && let Some(digit @ 0..=9) = found.spoken.readings.first().and_then(|value| value.as_whole())
    {
        digits.push_str(&digit.to_string());
        to += 1;
    }
    if digits.len() < 4 {
        return None;
    }
    let spoken = Spoken { certainty: Certainty::Exact, readings: vec![Number::from_decimal(&digits)?] };
    let kind = if digits.len() == 10 { Kind::Phone } else { Kind::Account };
    Some(draft(from, to, spoken, kind, Some(digits)))
}

/// What the languages the message may be in make of the number at a token, taken together.
fn agree(reader: &Reader<'_>, at: usize) -> Option<Found> {
    let mut all = reader.languages.iter().filter_map(|language| numbers::read(&reader.tokens, at, *language));
    let mut best = all.next()?;
    for other in all {
        if other.to > best.to {
            // A longer reading understood more; the shorter one is kept as a doubt only if it says otherwise.
            best = other;
            continue;
        }
        if other.to < best.to {
            continue;
        }
        best.weak = best.weak && other.weak;
        for value in other.spoken.readings {
            if !best.spoken.readings.contains(&value) {
                best.spoken.readings.push(value);
                best.spoken.certainty = Certainty::Ambiguous;
            }
        }
    }
    doubt_verb(reader, &mut best);
    doubt_neighbours(reader, &mut best);
    Some(best)
}

/// A word beside number words that begins like one but is none may be part of the number, misspelled. What is
/// left of the number is then not to be trusted.
fn doubt_neighbours(reader: &Reader<'_>, found: &mut Found) {
    let like = |at: usize, least: usize| {
        reader.token(at).is_some_and(|token| numbers::looks_like_number(token, reader.language(), least))
    };
    let least = if found.bare_scale { 3 } else { 4 };
    let before = found.from.checked_sub(1).is_some_and(|at| like(at, least));
    if !found.digits && (before || (found.scaled && like(found.to, 3))) {
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// `teen sau do` is 302, or "give three hundred".
fn doubt_verb(reader: &Reader<'_>, found: &mut Found) {
    let last = found.to.saturating_sub(1);
    let verb = reader
        .token(last)
        .is_some_and(|token| matches!(token.text.to_lowercase().as_str(), "do" | "दो" | "ਦੋ"));
    if !verb || last <= found.from || counts(reader, found.to) || reader.is_whole(found.from, found.to) {
        return;
    }
    let shorter =
        reader.tokens.get(..last).and_then(|tokens| numbers::read(tokens, found.from, reader.language()));
    for value in shorter.into_iter().flat_map(|found| found.spoken.readings) {
        found.spoken.readings.push(value);
        found.spoken.certainty = Certainty::Ambiguous;
    }
}

/// Whether the word at a place is something numbers count: money, a unit.
fn counts(reader: &Reader<'_>, at: usize) -> bool {
    let counted =
        |meaning| matches!(meaning, Meaning::Rupee | Meaning::Paisa | Meaning::Unit(_)).then_some(());
    reader.find_inflected(at, counted).is_some() || reader.token(at).is_some_and(|token| token.text == "%")
}

/// A number with the end of its range, when one follows: do-teen sau, 500 se 600.
fn range(reader: &Reader<'_>, found: Found) -> (Found, bool) {
    let Some((low, high)) = ends(reader, &found) else { return (found, false) };
    let spoken = Spoken { certainty: Certainty::Ambiguous, readings: vec![low, high.spoken.readings[0]] };
    (Found { to: high.to, spoken, weak: false, scaled: high.scaled, ..found }, true)
}

fn ends(reader: &Reader<'_>, low: &Found) -> Option<(Number, Found)> {
    let (next, said) = match reader.token(low.to)? {
        token if matches!(token.text, "-" | "–" | "—") => (low.to + 1, true),
        _ if reader.is(low.to, Meaning::To) || reader.is(low.to, Meaning::Range) => (low.to + 1, true),
        _ => (low.to, false),
    };
    let high = agree(reader, next)?;
    let [from] = low.spoken.readings.as_slice() else { return None };
    let [to] = high.spoken.readings.as_slice() else { return None };
    if low.digits != high.digits && !high.scaled {
        return None;
    }
    let from = lift(*from, *to, low.scaled, high.scaled)?;
    // Without a word between them only neighbours make a range: do teen, das barah.
    let neighbours =
        !low.digits && to.minus(from)? <= from && *to <= from.times(2)?.plus(Number::from_whole(1))?;
    let said_well = said && (!high.weak || !low.weak || neighbours);
    (*to > from && (said_well || neighbours)).then_some((from, high))
}

/// The low end under the high end's scale: the 2 of 2-3 lakh.
fn lift(from: Number, to: Number, scaled: bool, high_scaled: bool) -> Option<Number> {
    if scaled || !high_scaled {
        return Some(from);
    }
    [10_000_000, 100_000, 1_000, 100]
        .into_iter()
        .filter_map(|scale| from.times(scale))
        .find(|lifted| *lifted < to && to.minus(*lifted).is_some_and(|gap| gap <= *lifted))
        .or(Some(from))
}

fn classify(reader: &Reader<'_>, found: Found, claimed: usize, range: bool) -> Option<Draft> {
    let Found { from, to, mut spoken, weak, scaled, .. } = found;
    let ahead = from.checked_sub(1).and_then(|at| rupee_before(reader, at)).filter(|at| *at >= claimed);
    let after = rupee_after(reader, to);
    let unit = reader.find_inflected(to, |meaning| match meaning {
        Meaning::Unit(unit) => Some(unit),
        _ => None,
    });
    let unit = unit
        .filter(|_| unit_fits(reader, to))
        .or_else(|| reader.token(to).filter(|token| token.text == "%").map(|_| Unit::Percent));
    let paise = reader.find_inflected(to, |meaning| (meaning == Meaning::Paisa).then_some(())).is_some();
    let marked = ahead.is_some() || after.is_some() || paise;
    if weak && !marked && unit.is_none() && !reader.is_whole(from, to) {
        return None;
    }
    let mut draft = Draft { marked, range, scaled, ..draft(from, to, spoken.clone(), Kind::Plain, None) };
    if paise {
        spoken.readings = spoken.readings.iter().filter_map(|value| value.hundredth()).collect();
        draft = Draft { spoken, kind: Kind::Money, to: to + 1, ..draft };
    } else if let Some(end) = after {
        draft = Draft { kind: Kind::Money, to: end, ..draft };
    } else if ahead.is_some() {
        draft.kind = Kind::Money;
    } else if let Some(unit) = unit {
        draft = Draft { kind: Kind::Quantity, unit: Some(unit), to: to + 1, ..draft };
    }
    draft.from = ahead.filter(|_| after.is_none()).unwrap_or(from);
    Some(draft)
}

/// One-letter units count only right after digits.
fn unit_fits(reader: &Reader<'_>, at: usize) -> bool {
    reader.token(at).is_some_and(|token| {
        token.text.chars().count() > 1
            || reader.before(at).is_some_and(|before| before.kind == TokenKind::Digits)
    })
}

/// Where a rupee sign or short word before a number begins.
fn rupee_before(reader: &Reader<'_>, at: usize) -> Option<usize> {
    let token = reader.token(at)?;
    if is_short_rupee(token) {
        return Some(at);
    }
    let dotted = token.text == "." && token.glued;
    let short = at.checked_sub(1).filter(|_| dotted)?;
    reader.token(short).filter(|token| is_short_rupee(token)).map(|_| short)
}

/// One past the money word or `/-` after a number.
fn rupee_after(reader: &Reader<'_>, at: usize) -> Option<usize> {
    let slash = reader.token(at).is_some_and(|token| token.text == "/" && token.glued);
    if slash && reader.token(at + 1).is_some_and(|token| matches!(token.text, "-" | "=")) {
        return Some(at + 2);
    }
    if reader.token(at).is_some_and(|token| matches!(token.text, "₹" | "৳")) {
        let digits_follow = reader.token(at + 1).is_some_and(|token| token.kind == TokenKind::Digits);
        return (!digits_follow).then_some(at + 1);
    }
    let rupee = reader.find_inflected(at, |meaning| (meaning == Meaning::Rupee).then_some(()));
    rupee.filter(|()| !belongs_to_next(reader, at)).map(|()| at + 1)
}

/// `Rs` between two numbers goes with the second, unless that one counts something else.
pub(crate) fn belongs_to_next(reader: &Reader<'_>, at: usize) -> bool {
    let dot = usize::from(reader.token(at + 1).is_some_and(|token| token.text == "." && token.glued));
    let digits = reader.token(at + 1 + dot).is_some_and(|token| token.kind == TokenKind::Digits);
    reader.token(at).is_some_and(is_short_rupee) && digits && !counts(reader, at + 2 + dot)
}

/// Rupees and the paise right after them are one amount.
fn join_paise(reader: &Reader<'_>, drafts: &mut Vec<Draft>) {
    let paise = |draft: &Draft| {
        let last = draft.to.checked_sub(1);
        last.is_some_and(|at| {
            reader.token(at).is_some_and(|token| token.means(Meaning::Paisa, Languages::EVERY))
        })
    };
    for at in (1..drafts.len()).rev() {
        let (Some(rupees), Some(rest)) = (drafts.get(at - 1), drafts.get(at)) else { continue };
        let joined = rupees.kind == Kind::Money && !paise(rupees) && paise(rest) && rupees.to == rest.from;
        let [one] = rupees.spoken.readings.as_slice() else { continue };
        let [other] = rest.spoken.readings.as_slice() else { continue };
        if let Some(sum) = one.plus(*other).filter(|_| joined && *other < Number::from_whole(1)) {
            let to = rest.to;
            drafts.remove(at);
            if let Some(rupees) = drafts.get_mut(at - 1) {
                rupees.spoken.readings = vec![sum];
                rupees.to = to;
            }
        }
    }
}

/// Bare numbers are money when the message is about money and no other number is marked as it.
fn promote_bare(reader: &Reader<'_>, drafts: &mut [Draft]) {
    let explicit = drafts.iter().any(|draft| draft.marked);
    let about_money = reader.speaks_of(Meaning::Money);
    let bare = drafts.iter().filter(|draft| draft.kind == Kind::Plain).count();
    // One bare number beside goods, a telephone or an account is what is asked for them.
    let beside =
        drafts.iter().any(|draft| matches!(draft.kind, Kind::Quantity | Kind::Phone | Kind::Account));
    for draft in drafts.iter_mut().filter(|draft| draft.kind == Kind::Plain && !explicit) {
        let large = draft.spoken.readings.iter().all(|value| *value >= Number::from_whole(10));
        if draft.scaled || (about_money && (bare == 1 || large)) || (beside && bare == 1) {
            draft.kind = Kind::Money;
        }
    }
}
