//! The numbers of a message, and what each of them counts.
//!
//! - `ambiguity`: what the languages make of a number together, and what makes it unsure
//! - `minus`: amounts with a minus before them
//! - `range`: numbers that belong together: do-teen sau, 500 se 600, ek ek
//! - `other_languages`: what other languages would make of a number
//! - `scales`: words after a number that are nearly a scale
//! - `written_forms`: fractions with a stroke, decimals with a word for their point

mod ambiguity;
mod minus;
mod other_languages;
mod range;
mod scales;
pub(crate) mod written_forms;

use munshi_types::Language;
use serde::Serialize;

use crate::identifiers::{self, IdentifierKind};
use crate::lexicon::{Languages, Meaning};
use crate::number::Number;
use crate::numbers::{Certainty, NumberReadings, NumberSpan, digits};
use crate::ordinal;
use crate::token::{MessageToken, MessageTokenKind as TokenKind};
use crate::tokenized_message::{TokenizedMessage, is_short_rupee};
use crate::unit::MeasureUnit;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberKind {
    Money,
    Quantity,
    Plain,
    Phone,
    Date,
    Account,
}

/// A number as a message says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NumberMention {
    /// The words or digits themselves.
    pub text: String,
    /// Where they begin in the message, in bytes.
    pub start: usize,
    /// The likeliest reading.
    pub value: Number,
    pub certainty: Certainty,
    /// All it may mean, the likeliest first; one when it is exact.
    pub readings: Vec<Number>,
    pub kind: NumberKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<MeasureUnit>,
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
    spoken: NumberReadings,
    kind: NumberKind,
    unit: Option<MeasureUnit>,
    digits: Option<String>,
    range: bool,
    /// Where the number itself ends, before its money word or unit.
    number_end: usize,
    /// A currency word or sign stands by it.
    marked: bool,
    scaled: bool,
}

/// Every number of a message. `dated` are the tokens that dates and times rest on.
pub(crate) fn find(
    reader: &TokenizedMessage<'_>,
    message: &str,
    dated: &[(usize, usize)],
) -> Vec<NumberMention> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut at = 0;
    while at < reader.tokens.len() {
        let claimed = drafts.last().map_or(0, |draft| draft.to);
        let dates = dated.iter().any(|(from, to)| (*from..*to).contains(&at));
        // A number that says which is no amount: 5th class.
        if let Some(end) = ordinal::find_end(reader, at).filter(|_| !dates) {
            at = end;
            continue;
        }
        match read(reader, at.max(claimed), claimed, dated) {
            Some(draft) => {
                at = draft.to.max(at + 1);
                drafts.push(draft);
            }
            None => at = at.max(claimed) + 1,
        }
    }
    join_paise(reader, &mut drafts);
    doubt_pairs(reader, &mut drafts);
    doubt_adjacent(reader, &mut drafts);
    promote_bare(reader, &mut drafts);
    drafts.into_iter().filter_map(|draft| to_mention(reader, message, draft)).collect()
}

fn to_mention(reader: &TokenizedMessage<'_>, message: &str, mut draft: Draft) -> Option<NumberMention> {
    // Nobody owes less than a paisa.
    if draft.kind == NumberKind::Money && draft.spoken.readings.iter().any(|value| value.as_money().is_none())
    {
        draft.spoken.certainty = Certainty::Ambiguous;
    }
    let text = reader.text(message, draft.from, draft.to).to_owned();
    Some(NumberMention {
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
fn read(reader: &TokenizedMessage<'_>, at: usize, claimed: usize, dated: &[(usize, usize)]) -> Option<Draft> {
    if let Some(found) =
        written_forms::read_mixed(reader, at).or_else(|| written_forms::read_decimal_words(reader, at))
    {
        return classify(reader, found, claimed, false);
    }
    if let Some(found) = written_forms::read_mistyped(reader, at) {
        return classify(reader, found, claimed, false);
    }
    if let Some((from, to)) = dated.iter().copied().find(|(from, to)| (*from..*to).contains(&at)) {
        return read_dated(reader, at, from, to);
    }
    if !scales::runs_into_scale(reader, at)
        && let Some(found) = identifiers::read(reader, at)
    {
        let value = Number::from_decimal(&found.digits).unwrap_or_default();
        let kind =
            if found.naming == IdentifierKind::Phone { NumberKind::Phone } else { NumberKind::Account };
        let spoken = NumberReadings { certainty: Certainty::Exact, readings: vec![value] };
        return Some(draft(at, found.to, spoken, kind, Some(found.digits)));
    }
    if let Some(found) = written_forms::read_slashed(reader, at) {
        return classify(reader, found, claimed, false);
    }
    if let Some(found) = read_dictated(reader, at) {
        return Some(found);
    }
    let found = ambiguity::reconcile_languages(reader, at)?;
    let (mut found, is_range) = range::join_range(reader, found);
    if !is_range {
        let free = |at: &usize| *at >= claimed && !dated.iter().any(|(from, to)| (*from..*to).contains(at));
        let before = found.from.checked_sub(1).filter(free);
        ambiguity::doubt_about(reader, &mut found, before);
    }
    let end = found.to;
    let draft = classify(reader, found, claimed, is_range)?;
    // The day of "the day after tomorrow" is counted by no number before it.
    if draft.unit.is_some() && dated.iter().any(|(from, to)| (*from..*to).contains(&end)) {
        return Some(Draft { unit: None, kind: NumberKind::Plain, to: end, ..draft });
    }
    Some(draft)
}

fn draft(from: usize, to: usize, spoken: NumberReadings, kind: NumberKind, digits: Option<String>) -> Draft {
    Draft {
        from,
        to,
        spoken,
        kind,
        unit: None,
        digits,
        range: false,
        number_end: to,
        marked: false,
        scaled: false,
    }
}

/// The number inside a date; the rest of the date is passed over.
fn read_dated(reader: &TokenizedMessage<'_>, at: usize, from: usize, to: usize) -> Option<Draft> {
    // A word for a day has no number in it, whatever it sounds like.
    let counted = to > from + 1 || reader.token(from).is_some_and(|token| token.kind == TokenKind::Digits);
    if at != from || !counted {
        return None;
    }
    let found = (from..to).find_map(|at| reader.number_before(at, to))?;
    Some(draft(from, to, found.spoken, NumberKind::Date, None))
}

/// How often the digit after a word is meant: double nine.
fn repeats(token: &MessageToken<'_>) -> usize {
    match token.text.to_ascii_lowercase().as_str() {
        "double" | "dabal" => 2,
        "triple" | "tripal" => 3,
        _ => 1,
    }
}

/// Nobody reads out more digits than this.
const MOST_DICTATED: usize = 20;

/// Four single digits or more said one by one are a number to dial or to copy, unless they count something or only
/// rise: ek do teen char log, do teen char paanch sau.
fn read_dictated(reader: &TokenizedMessage<'_>, from: usize) -> Option<Draft> {
    let mut digits = String::new();
    let mut to = from;
    while let Some(token) = reader.token(to).filter(|_| digits.len() <= MOST_DICTATED) {
        let times = repeats(token);
        let at = to + usize::from(times > 1);
        let said = reader.token(at).filter(|token| token.is_word());
        let digit = said.and_then(|_| {
            reader.numbers(at, at + 1).find_map(|found| found.spoken.readings.first()?.as_whole())
        });
        let Some(digit @ 0..=9) = digit else { break };
        digits.push_str(&digit.to_string().repeat(times));
        to = at + 1;
    }
    if digits.len() < 4 || digits.len() > MOST_DICTATED {
        return None;
    }
    let named = |meaning| matches!(meaning, Meaning::Phone | Meaning::Account).then_some(());
    let introduced = (1..=2).any(|back| {
        from.checked_sub(back)
            .and_then(|at| reader.token(at))
            .is_some_and(|token| token.find(Languages::EVERY, named).is_some())
    });
    let rises = digits.len() < 6 && digits.as_bytes().is_sorted() && !introduced;
    let scale = Language::ALL.iter().any(|language| reader.lexemes(*language).is_scale(&reader.tokens, to));
    if rises || scale || is_countable(reader, to) {
        return None;
    }
    let spoken =
        NumberReadings { certainty: Certainty::Exact, readings: vec![Number::from_decimal(&digits)?] };
    let kind = if digits.len() == 10 { NumberKind::Phone } else { NumberKind::Account };
    Some(draft(from, to, spoken, kind, Some(digits)))
}

/// Whether the word at a place is something numbers count: money, a unit.
fn is_countable(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    let counted =
        |meaning| matches!(meaning, Meaning::Rupee | Meaning::Paisa | Meaning::Unit(_)).then_some(());
    reader.find_inflected(at, counted).is_some()
        || is_paisa(reader, at)
        || reader.token(at).is_some_and(|token| token.text == "%")
}

/// Whether paise stand at a place: 50 paise, 50p.
fn is_paisa(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    let letter = reader.token(at).is_some_and(|token| matches!(token.text, "p" | "P") && token.glued)
        && reader.token_before(at).is_some_and(|before| before.kind == TokenKind::Digits)
        && reader.token(at + 1).is_none_or(|next| next.text != "." && !(next.glued && next.is_word()));
    letter || reader.find_inflected(at, |meaning| (meaning == Meaning::Paisa).then_some(())).is_some()
}

fn classify(
    reader: &TokenizedMessage<'_>,
    mut found: NumberSpan,
    claimed: usize,
    range: bool,
) -> Option<Draft> {
    let (from, to) = (found.from, found.to);
    let minus = minus::find_before(reader, from);
    let ahead = minus.unwrap_or(from).checked_sub(1).and_then(|at| rupee_before(reader, at));
    let ahead = ahead.filter(|at| *at >= claimed);
    let after = rupee_after(reader, to);
    let unit = reader.find_inflected(to, |meaning| match meaning {
        Meaning::Unit(unit) => Some(unit),
        _ => None,
    });
    let unit = unit
        .filter(|_| unit_fits(reader, to))
        .or_else(|| reader.token(to).filter(|token| token.text == "%").map(|_| MeasureUnit::Percent));
    let paise = is_paisa(reader, to);
    let marked = ahead.is_some() || after.is_some() || paise;
    if marked {
        resolve_western_groups(reader, &mut found);
    }
    if let Some(minus) = minus.or_else(|| ahead.and_then(|at| minus::find_before(reader, at))) {
        minus::doubt(reader, &mut found, minus, marked);
    }
    ambiguity::doubt_run_in(reader, &mut found, marked);
    ambiguity::doubt_named(reader, &mut found);
    ambiguity::doubt_foreign(reader, &mut found);
    let NumberSpan { mut spoken, weak, scaled, .. } = found;
    let unsaid = (weak || is_verb(reader, from, to)) && !marked && unit.is_none();
    if unsaid && !reader.covers_message(from, to) {
        return None;
    }
    // All the message says is a name, or a verb: Das, do.
    let said = reader.token(from).filter(|token| weak && unsaid && token.is_word());
    if said.is_some_and(|token| crate::name_likelihood::is_capital(token) || token.text == "do") {
        spoken.certainty = Certainty::Ambiguous;
    }
    let mut draft =
        Draft { marked, range, scaled, ..draft(from, to, spoken.clone(), NumberKind::Plain, None) };
    if paise {
        spoken = paise_to_rupees(spoken);
        draft = Draft { spoken, kind: NumberKind::Money, to: to + 1, ..draft };
    } else if let Some(end) = after {
        draft = Draft { kind: NumberKind::Money, to: end, ..draft };
    } else if ahead.is_some() {
        draft.kind = NumberKind::Money;
    } else if let Some(unit) = unit {
        draft = Draft { kind: NumberKind::Quantity, unit: Some(unit), to: to + 1, ..draft };
    }
    draft.from = ahead.filter(|_| after.is_none()).unwrap_or(from);
    Some(draft)
}

/// Paise as rupees. A hundred of them and more are money as such: 500 paise diye.
fn paise_to_rupees(said: NumberReadings) -> NumberReadings {
    let small = |value: &Number| *value < Number::from_whole(100);
    let rupees: Vec<Number> = said.readings.iter().filter_map(|value| value.hundredth()).collect();
    if said.readings.iter().all(small) {
        return NumberReadings { readings: rupees, ..said };
    }
    let mut readings = said.readings;
    readings.extend(rupees);
    NumberReadings { certainty: Certainty::Ambiguous, readings }
}

/// Gujarati ends its sentences with chhe, which is six elsewhere.
fn is_verb(reader: &TokenizedMessage<'_>, from: usize, to: usize) -> bool {
    let last = (to..reader.tokens.len()).all(|at| reader.token(at).is_some_and(|token| !token.is_word()));
    let chhe = reader.token(from).is_some_and(|token| token.key == "che");
    chhe && to == from + 1 && last && reader.known.has(Language::Gujarati)
}

/// Beside a rupee sign 125,450 is one amount, grouped as the west does it.
fn resolve_western_groups(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let written = reader.token(found.from).filter(|_| found.digits && found.to == found.from + 1);
    if let Some(value) = written.and_then(|token| digits::parse_western(token.text)) {
        found.spoken = NumberReadings { certainty: Certainty::Exact, readings: vec![value] };
    }
}

/// One-letter units count only right after digits.
fn unit_fits(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    reader.token(at).is_some_and(|token| {
        token.text.chars().count() > 1
            || reader.token_before(at).is_some_and(|before| before.kind == TokenKind::Digits)
    })
}

/// Where a rupee sign or short word before a number begins.
fn rupee_before(reader: &TokenizedMessage<'_>, at: usize) -> Option<usize> {
    let token = reader.token(at)?;
    // Rs 500, or rupaye 500; what 2 kilo counts is no money.
    let rupee = |meaning| (meaning == Meaning::Rupee).then_some(());
    let digits = reader.token(at + 1).is_some_and(|next| next.kind == TokenKind::Digits);
    let full = digits && token.find(Languages::EVERY, rupee).is_some() && !is_countable(reader, at + 2);
    if is_short_rupee(token) || full {
        return Some(at);
    }
    let dotted = matches!(token.text, "." | ":") && token.glued;
    let short = at.checked_sub(1).filter(|_| dotted)?;
    reader.token(short).filter(|token| is_short_rupee(token)).map(|_| short)
}

/// One past the money word or `/-` after a number.
fn rupee_after(reader: &TokenizedMessage<'_>, at: usize) -> Option<usize> {
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
pub(crate) fn belongs_to_next(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    let dot = usize::from(reader.token(at + 1).is_some_and(|token| token.text == "." && token.glued));
    let digits = reader.token(at + 1 + dot).is_some_and(|token| token.kind == TokenKind::Digits);
    reader.token(at).is_some_and(is_short_rupee) && digits && !is_countable(reader, at + 2 + dot)
}

/// Number words in a row that make no one number: each may be a part of another.
fn doubt_adjacent(reader: &TokenizedMessage<'_>, drafts: &mut [Draft]) {
    let spoken = |draft: &Draft| {
        let last = draft.to.checked_sub(1).and_then(|at| reader.token(at));
        draft.digits.is_none()
            && draft.unit.is_none()
            && draft.kind != NumberKind::Date
            && last.is_some_and(MessageToken::is_word)
    };
    for at in 1..drafts.len() {
        let (Some(one), Some(other)) = (drafts.get(at - 1), drafts.get(at)) else { continue };
        let ends_bare = one.to == one.number_end;
        let hyphen = usize::from(reader.token(one.to).is_some_and(|token| token.text == "-" && token.glued));
        let beside = one.to == other.from || is_beside_bare_scale(reader, one.to + hyphen, other);
        if ends_bare && beside && spoken(one) && other.digits.is_none() && other.kind != NumberKind::Date {
            for draft in drafts.iter_mut().skip(at - 1).take(2) {
                draft.spoken.certainty = Certainty::Ambiguous;
            }
        }
    }
}

/// Whether a number is a scale whose count, one word on from a place, was not read as one: paanch-chhe hazaar.
fn is_beside_bare_scale(reader: &TokenizedMessage<'_>, at: usize, other: &Draft) -> bool {
    let unread = other.scaled && other.spoken.certainty == Certainty::Ambiguous && other.from <= at + 1;
    unread && other.from >= at && reader.token(at).is_some_and(MessageToken::is_word)
}

/// Two amounts of digits before one money word: a range when they are near each other, else unsure.
fn doubt_pairs(reader: &TokenizedMessage<'_>, drafts: &mut Vec<Draft>) {
    let digits = |draft: &Draft| {
        let large = draft.spoken.readings.iter().all(|value| *value >= Number::from_whole(100));
        let one = draft.number_end == draft.from + 1 && draft.digits.is_none();
        large && one && reader.token(draft.from).is_some_and(|token| token.kind == TokenKind::Digits)
    };
    for at in (1..drafts.len()).rev() {
        let (Some(one), Some(other)) = (drafts.get(at - 1), drafts.get(at)) else { continue };
        let pair = one.to == other.from && digits(one) && digits(other);
        if !pair
            || one.kind != NumberKind::Plain
            || one.marked
            || other.kind != NumberKind::Money
            || !other.marked
        {
            continue;
        }
        let ends = [&one.spoken.readings, &other.spoken.readings].map(|readings| readings.first().copied());
        let [Some(low), Some(high)] = ends else { continue };
        if low < high && low.checked_mul(2).is_some_and(|twice| high <= twice) {
            let second = drafts.remove(at);
            if let Some(first) = drafts.get_mut(at - 1) {
                first.spoken = NumberReadings { certainty: Certainty::Ambiguous, readings: vec![low, high] };
                first.kind = NumberKind::Money;
                first.range = true;
                first.marked = true;
                first.to = second.to;
            }
            continue;
        }
        for draft in drafts.iter_mut().skip(at - 1).take(2) {
            draft.kind = NumberKind::Money;
            draft.spoken.certainty = Certainty::Ambiguous;
        }
    }
}

/// Rupees and the paise right after them are one amount.
fn join_paise(reader: &TokenizedMessage<'_>, drafts: &mut Vec<Draft>) {
    let paise = |draft: &Draft| {
        let last = draft.to.checked_sub(1);
        last.is_some_and(|at| is_paisa(reader, at))
    };
    for at in (1..drafts.len()).rev() {
        let (Some(rupees), Some(rest)) = (drafts.get(at - 1), drafts.get(at)) else { continue };
        let joined = rupees.kind == NumberKind::Money
            && !paise(rupees)
            && paise(rest)
            && is_joined_by_and(reader, rupees.to, rest.from);
        let [one] = rupees.spoken.readings.as_slice() else { continue };
        let [other] = rest.spoken.readings.as_slice() else { continue };
        if let Some(sum) = one.checked_add(*other).filter(|_| joined && *other < Number::from_whole(1)) {
            let to = rest.to;
            drafts.remove(at);
            if let Some(rupees) = drafts.get_mut(at - 1) {
                rupees.spoken.readings = vec![sum];
                rupees.to = to;
            }
        }
    }
}

/// Whether nothing lies between two places, or one word for "and".
fn is_joined_by_and(reader: &TokenizedMessage<'_>, end: usize, start: usize) -> bool {
    const AND: &[&str] =
        &["aur", "and", "or", "ani", "ane", "ate", "ar", "o", "au", "matu", "mariyu", "evam"];
    end == start
        || (end + 1 == start && reader.token(end).is_some_and(|token| AND.contains(&token.key.as_str())))
}

/// Bare numbers are money when the message is about money and no other number is marked as it.
fn promote_bare(reader: &TokenizedMessage<'_>, drafts: &mut [Draft]) {
    let explicit = drafts.iter().any(|draft| draft.marked);
    let about_money = reader.mentions(Meaning::Money);
    let bare = drafts.iter().filter(|draft| draft.kind == NumberKind::Plain).count();
    // One bare number beside goods, a telephone or an account is what is asked for them.
    let beside = drafts
        .iter()
        .any(|draft| matches!(draft.kind, NumberKind::Quantity | NumberKind::Phone | NumberKind::Account));
    // What is multiplied is counted: 2300 x 24.
    let factor = |draft: &Draft| {
        reader.token_before(draft.from).is_some_and(|token| matches!(token.text, "x" | "X" | "*" | "×"))
    };
    let plain = |draft: &&mut Draft| draft.kind == NumberKind::Plain && !explicit && !factor(draft);
    for draft in drafts.iter_mut().filter(plain) {
        let large = draft.spoken.readings.iter().all(|value| *value >= Number::from_whole(10));
        if draft.scaled || (about_money && (bare == 1 || large)) || (beside && bare == 1) {
            draft.kind = NumberKind::Money;
        }
    }
}
