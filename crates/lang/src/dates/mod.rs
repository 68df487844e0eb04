//! Days, weeks and months a message speaks of, and clock times.
//!
//! - [`find`]: every date, with the tokens it rests on
//! - [`times`]: hours and minutes
//!
//! A word that may lie before or after today (`kal`, a weekday, `15 tareekh`) is decided by the verb of its
//! clause; without one both readings are given. A written day that no calendar has (31/02/2026) has no reading.

mod calendar;
mod side;
#[cfg(test)]
mod tests;
pub(crate) mod times;

use jiff::civil::{Date, Weekday};
use serde::Serialize;

use crate::amounts::written_forms;
use crate::lexicon::Meaning;
use crate::numbers::{self, Certainty};
use crate::ordinal;
use crate::token::{MessageTokenKind, NameLikelihood};
use crate::tokenized_message::TokenizedMessage;
use crate::unit::MeasureUnit;
use side::list_sides;

/// A day or a stretch of days as said, before it is laid on a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "unit")]
pub enum DateExpression {
    /// Days, weeks, months or years from today's.
    Day {
        offset: i32,
    },
    Week {
        offset: i32,
    },
    Month {
        offset: i32,
    },
    Year {
        offset: i32,
    },
    /// 1 is Monday; the nearest before or after today, today itself counting as after.
    Weekday {
        weekday: i8,
        side: DateSide,
    },
    /// The nearest after today, today itself not counting: next Sunday.
    ComingWeekday {
        weekday: i8,
    },
    /// A day of a month not named; the nearest before or after today, today itself counting as both.
    DayOfMonth {
        day: i8,
        side: DateSide,
    },
    /// A day of the month some months from this one.
    DayInMonth {
        day: i8,
        offset: i32,
    },
    /// A day of a named month, of the nearest year when none is said.
    Dated {
        day: i8,
        month: i8,
        year: Option<i16>,
        side: DateSide,
    },
}

/// On which side of today a day lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DateSide {
    Before,
    After,
}

/// One thing a date may mean, with its first and last day when today is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DateReading {
    #[serde(flatten)]
    pub when: DateExpression,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Date>,
}

/// A date as a message says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DateMention {
    pub text: String,
    pub start: usize,
    pub certainty: Certainty,
    /// Empty when no calendar has the day.
    pub readings: Vec<DateReading>,
    /// It is written as a date, but there is no such day: 31/02/2026.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_such_day: bool,
}

/// The tokens a date covers, and what it may mean.
pub(crate) struct DateMentionSpan {
    pub from: usize,
    pub to: usize,
    pub whens: Vec<DateExpression>,
}

/// Every date of a message.
pub(crate) fn find(reader: &TokenizedMessage<'_>) -> Vec<DateMentionSpan> {
    let mut found: Vec<DateMentionSpan> = Vec::new();
    let mut at = 0;
    while at < reader.tokens.len() {
        match read(reader, at) {
            Some(dated) => {
                at = dated.to.max(at + 1);
                found.push(dated);
            }
            None => at += 1,
        }
    }
    found
}

/// Lays the readings on a calendar.
pub(crate) fn to_mention(
    reader: &TokenizedMessage<'_>,
    message: &str,
    dated: &DateMentionSpan,
    today: Option<Date>,
) -> DateMention {
    let mut readings: Vec<DateReading> = Vec::new();
    for when in find_today_reading(dated, today).into_iter().chain(dated.whens.iter().copied()) {
        let span = today.and_then(|today| calendar::resolve_range(when, today));
        // Two ways to the same day are one reading: the 15th, said on the 15th.
        if span.is_none() || readings.iter().all(|known| known.from.zip(known.to) != span) {
            readings.push(DateReading { when, from: span.map(|span| span.0), to: span.map(|span| span.1) });
        }
    }
    let certainty = if readings.len() == 1 { Certainty::Exact } else { Certainty::Ambiguous };
    let text = reader.text(message, dated.from, dated.to).to_owned();
    let start = reader.token(dated.from).map_or(0, |token| token.start);
    DateMention { text, start, certainty, no_such_day: readings.is_empty(), readings }
}

/// Whoever says on a Monday that something was on Monday may mean today, or a week ago.
fn find_today_reading(dated: &DateMentionSpan, today: Option<Date>) -> Option<DateExpression> {
    let today = today?.weekday().to_monday_one_offset();
    let is_past =
        |when: &DateExpression| *when == DateExpression::Weekday { weekday: today, side: DateSide::Before };
    // "Last Monday" is plain.
    let is_bare = dated.to == dated.from + 1;
    (is_bare && dated.whens.iter().any(is_past)).then_some(DateExpression::Day { offset: 0 })
}

fn read(reader: &TokenizedMessage<'_>, at: usize) -> Option<DateMentionSpan> {
    read_written_date(reader, at)
        .or_else(|| read_month_between(reader, at))
        .or_else(|| read_day_after_next(reader, at))
        .or_else(|| relative_word(reader, at))
        .or_else(|| read_next_or_last(reader, at))
        .or_else(|| read_counted(reader, at))
        .or_else(|| day_of_month(reader, at))
        .or_else(|| day_limit(reader, at))
        .or_else(|| weekday(reader, at))
}

fn build_span(from: usize, to: usize, whens: Vec<DateExpression>) -> DateMentionSpan {
    DateMentionSpan { from, to, whens }
}

/// 15/08/2026, 15-8-26, 2026-08-15, 15.08.2026, 15/8.
fn read_written_date(reader: &TokenizedMessage<'_>, from: usize) -> Option<DateMentionSpan> {
    let token = reader.token(from).filter(|token| token.kind == MessageTokenKind::Digits)?;
    let dots: Vec<&str> = token.text.split('.').collect();
    if let [day, month, year] = dots.as_slice() {
        return calendar::parse_date(day, month, year).map(|when| build_span(from, from + 1, when));
    }
    // 15.08 is a day where a word for "on" or "until" follows.
    if let [day, month @ ("01" | "02" | "03" | "04" | "05" | "06" | "07" | "08" | "09" | "10" | "11" | "12")] =
        dots.as_slice()
        && reader.token(from + 1).is_some_and(|token| matches!(token.text, "ko" | "tak" | "को" | "तक"))
    {
        let whens = calendar::parse_day_and_month(day, month, &list_sides(reader, from))?;
        return Some(build_span(from, from + 1, whens));
    }
    let sign = reader.token(from + 1).filter(|sign| matches!(sign.text, "/" | "-") && sign.glued)?;
    if written_forms::is_fraction(reader, from) {
        return None;
    }
    let part = |at: usize| {
        reader
            .token(at)
            .filter(|token| token.kind == MessageTokenKind::Digits && token.glued)
            .map(|token| token.text)
    };
    let second = part(from + 2)?;
    let third = reader
        .token(from + 3)
        .filter(|again| again.text == sign.text && again.glued)
        .and_then(|_| part(from + 4));
    match third {
        Some(third) => {
            let whens = calendar::parse_date(token.text, second, third);
            let refused = || calendar::looks_like_date(token.text, second, third).then(Vec::new);
            whens.or_else(refused).map(|whens| build_span(from, from + 5, whens))
        }
        // A half of something is written the same way, and so is a range.
        None if sign.text == "/" && !is_unit_or_rupee(reader, from + 3) => {
            let sides = list_sides(reader, from);
            calendar::parse_day_and_month(token.text, second, &sides)
                .map(|when| build_span(from, from + 3, when))
        }
        None => None,
    }
}

/// 14-Nov-26, 14/Nov/2026, 14Nov26: as banks write it.
fn read_month_between(reader: &TokenizedMessage<'_>, from: usize) -> Option<DateMentionSpan> {
    let token = reader.token(from).filter(|token| token.kind == MessageTokenKind::Digits)?;
    let day: i8 = numbers::digits::to_ascii(token.text).parse().ok()?;
    let after_sign = |at: usize| {
        let sign = reader.token(at).is_some_and(|sign| matches!(sign.text, "-" | "/") && sign.glued);
        at + usize::from(sign)
    };
    let at = after_sign(from + 1);
    let month = month_name(reader, at).filter(|_| reader.token(at).is_some_and(|token| token.glued))?;
    let place = after_sign(at + 1);
    let year = reader.token(place).filter(|token| token.kind == MessageTokenKind::Digits && token.glued)?;
    let year = numbers::digits::to_ascii(year.text);
    let year: i16 = if year.len() == 2 { format!("20{year}").parse().ok()? } else { year.parse().ok()? };
    let whens = list_dated_expressions(
        reader,
        from,
        day,
        month,
        Some(year).filter(|year| (1990..2100).contains(year)),
    );
    (!whens.is_empty()).then(|| build_span(from, place + 1, whens))
}

fn is_unit_or_rupee(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    reader
        .find_inflected(at, |meaning| matches!(meaning, Meaning::Unit(_) | Meaning::Rupee).then_some(()))
        .is_some()
}

/// The day after tomorrow, the day before yesterday.
fn read_day_after_next(reader: &TokenizedMessage<'_>, at: usize) -> Option<DateMentionSpan> {
    let is =
        |at: usize, word: &str| reader.token(at).is_some_and(|token| token.text.eq_ignore_ascii_case(word));
    let offset = match (is(at + 1, "after"), is(at + 1, "before")) {
        (true, _) if is(at + 2, "tomorrow") || is(at + 2, "tmrw") => 2,
        (_, true) if is(at + 2, "yesterday") => -2,
        _ => return None,
    };
    is(at, "day").then(|| build_span(at, at + 3, vec![DateExpression::Day { offset }]))
}

/// aaj, kal, parso and their like; Mona ko and Kali da are people.
fn relative_word(reader: &TokenizedMessage<'_>, at: usize) -> Option<DateMentionSpan> {
    const DAYS: &[&str] = &["kal", "aaj", "aj", "parso", "parson", "today", "tomorrow", "yesterday"];
    let language = crate::lexicon::Languages::only(reader.language());
    let token = reader.token(at)?;
    if token.named == NameLikelihood::Surely && !DAYS.iter().any(|day| token.text.eq_ignore_ascii_case(day)) {
        return None;
    }
    let want = |meaning| match meaning {
        Meaning::Day(days) => Some((days, false)),
        Meaning::Either(days) => Some((days, true)),
        _ => None,
    };
    // The language of the message decides; when it does not know the word, all that may be meant count.
    let languages = if token.find(language, want).is_some() { language } else { reader.known };
    let mut whens: Vec<DateExpression> = Vec::new();
    for sense in token.senses.iter().filter(|sense| sense.languages.intersects(languages)) {
        let Some((days, either)) = want(sense.meaning) else { continue };
        let days = i32::from(days);
        let signs = match either {
            true => list_sides(reader, at)
                .into_iter()
                .map(|side| if side == DateSide::Before { -1 } else { 1 })
                .collect(),
            false => vec![1],
        };
        for offset in signs.into_iter().map(|sign| sign * days) {
            if !whens.contains(&DateExpression::Day { offset }) {
                whens.push(DateExpression::Day { offset });
            }
        }
    }
    (!whens.is_empty()).then(|| build_span(at, at + 1, whens))
}

/// agle hafte, last month, iss saal, next Monday.
fn read_next_or_last(reader: &TokenizedMessage<'_>, at: usize) -> Option<DateMentionSpan> {
    let offset = reader.find(at, |meaning| match meaning {
        Meaning::Next => Some(1),
        Meaning::Last => Some(-1),
        Meaning::This => Some(0),
        _ => None,
    })?;
    let when = reader.find_inflected(at + 1, |meaning| match meaning {
        Meaning::Week => Some(DateExpression::Week { offset }),
        Meaning::Month => Some(DateExpression::Month { offset }),
        Meaning::Year => Some(DateExpression::Year { offset }),
        Meaning::Weekday(weekday) if offset > 0 => Some(DateExpression::ComingWeekday { weekday }),
        Meaning::Weekday(weekday) => {
            let side = if offset < 0 { DateSide::Before } else { DateSide::After };
            Some(DateExpression::Weekday { weekday, side })
        }
        _ => None,
    })?;
    // agle mahine 5 tareekh; agle mahine ki 5 tareekh
    if let DateExpression::Month { offset } = when {
        let skip =
            usize::from(reader.token(at + 2).is_some_and(|token| matches!(token.text, "ki" | "ke" | "की")));
        if let Some((day, to)) = marked_day(reader, at + 2 + skip) {
            return Some(build_span(at, to, vec![DateExpression::DayInMonth { day, offset }]));
        }
    }
    Some(build_span(at, at + 2, vec![when]))
}

/// A day with the word that says it is one: 5 tareekh, tareekh 5.
fn marked_day(reader: &TokenizedMessage<'_>, from: usize) -> Option<(i8, usize)> {
    if reader.find_inflected(from, is_day_word).is_some() {
        return day_number(reader, from + 1);
    }
    let (day, to) = day_number(reader, from)?;
    let ordinal = ordinal::find_end(reader, from);
    let to = ordinal.unwrap_or(to);
    if reader.find_inflected(to, is_day_word).is_some() {
        return Some((day, to + 1));
    }
    ordinal.map(|_| (day, to))
}

/// The next or last month right after a day: 5 tareekh agle mahine.
fn month_after(reader: &TokenizedMessage<'_>, at: usize) -> Option<(i32, usize)> {
    let skip = usize::from(reader.token(at).is_some_and(|token| matches!(token.text, "ko" | "of" | "को")));
    let found = read_next_or_last(reader, at + skip)?;
    match found.whens.as_slice() {
        [DateExpression::Month { offset }] => Some((*offset, found.to)),
        _ => None,
    }
}

/// `15 tak 1500 dena`: by the 15th. A range has its word between from and to: 15 se 1500 tak.
fn day_limit(reader: &TokenizedMessage<'_>, from: usize) -> Option<DateMentionSpan> {
    reader.token(from).filter(|token| token.kind == MessageTokenKind::Digits)?;
    let (day, to) = day_number(reader, from)?;
    let until =
        reader.token(to).is_some_and(|token| matches!(token.text, "tak" | "तक" | "ਤੱਕ" | "पर्यंत" | "paryant"));
    let after = reader.number(to + 1)?.spoken.readings.first()?.as_whole()?;
    let begun = from.checked_sub(1).is_some_and(|at| reader.means(at, Meaning::Range));
    let apart = after >= 100;
    (until && !begun && apart).then(|| build_span(from, to + 1, nearest_day(reader, from, day)))
}

/// Two days later, 3 din pehle, in two weeks.
fn read_counted(reader: &TokenizedMessage<'_>, from: usize) -> Option<DateMentionSpan> {
    let number = reader.number(from)?;
    let [count] = number.spoken.readings.as_slice() else { return None };
    let count = i32::try_from(count.as_whole()?).ok().filter(|count| (1..=1_000).contains(count))?;
    let unit = reader.find_inflected(number.to, |meaning| match meaning {
        Meaning::Unit(
            unit @ (MeasureUnit::Day | MeasureUnit::Week | MeasureUnit::Month | MeasureUnit::Year),
        ) => Some(unit),
        _ => None,
    })?;
    let english_in = reader.token_before(from).is_some_and(|token| token.text.eq_ignore_ascii_case("in"));
    let sign = reader
        .find(number.to + 1, |meaning| match meaning {
            Meaning::After => Some(1),
            Meaning::Before => Some(-1),
            _ => None,
        })
        .or(english_in.then_some(1))?;
    let offset = count * sign;
    let when = match unit {
        MeasureUnit::Day => DateExpression::Day { offset },
        MeasureUnit::Week => DateExpression::Day { offset: offset * 7 },
        MeasureUnit::Month => DateExpression::Month { offset },
        _ => DateExpression::Year { offset },
    };
    Some(build_span(from, number.to + if english_in { 1 } else { 2 }, vec![when]))
}

/// 15 tareekh, tareekh 15, 15 August, August 15, 15th.
fn day_of_month(reader: &TokenizedMessage<'_>, from: usize) -> Option<DateMentionSpan> {
    if let Some(month) = month_name(reader, from) {
        let (day, to) = day_number(reader, from + 1)?;
        let (year, to) = year_number(reader, to);
        let whens = list_dated_expressions(reader, from, day, month, year);
        return (!whens.is_empty()).then(|| build_span(from, to, whens));
    }
    if reader.find_inflected(from, is_day_word).is_some() {
        let (day, to) = day_number(reader, from + 1)?;
        let followed = is_unit_or_rupee(reader, to);
        return (!followed).then(|| build_span(from, to, nearest_day(reader, from, day)));
    }
    let (day, to) = day_number(reader, from)?;
    let ordinal = ordinal::find_end(reader, from);
    let next = ordinal.unwrap_or(to);
    if let Some(month) = month_name(reader, next) {
        let (year, to) = year_number(reader, next + 1);
        let whens = list_dated_expressions(reader, from, day, month, year);
        return (!whens.is_empty()).then(|| build_span(from, to, whens));
    }
    if reader.find_inflected(next, is_day_word).is_some() {
        if let Some((offset, to)) = month_after(reader, next + 1) {
            return Some(build_span(from, to, vec![DateExpression::DayInMonth { day, offset }]));
        }
        return Some(build_span(from, next + 1, nearest_day(reader, from, day)));
    }
    let on = reader.token_before(from).is_some_and(|token| matches!(token.text, "on" | "the" | "by"));
    let until = reader.token(next).is_some_and(|token| BY_THEN.contains(&token.text));
    let said = ordinal.is_some() && (on || until || reader.covers_message(from, next));
    said.then(|| build_span(from, next, nearest_day(reader, from, day)))
}

/// Words after a day that is only an ordinal: 15th *ko*, 5th *tak*.
const BY_THEN: &[&str] = &["ko", "tak", "se", "pe", "को", "तक", "से", "nu", "ਨੂੰ", "ਤੱਕ", "la", "ला", "tarikh"];

fn is_day_word(meaning: Meaning) -> Option<()> {
    (meaning == Meaning::DayOfMonth).then_some(())
}

fn month_name(reader: &TokenizedMessage<'_>, at: usize) -> Option<i8> {
    // `me` is "in" to most, and May only in Marathi's own letters.
    let aunt = reader.token(at + 1).is_some_and(|next| crate::names::is_honorific(&next.key));
    if reader.token(at)?.text.eq_ignore_ascii_case("me") || aunt {
        return None;
    }
    reader.find(at, |meaning| match meaning {
        Meaning::MonthName(month) => Some(month),
        _ => None,
    })
}

fn day_number(reader: &TokenizedMessage<'_>, from: usize) -> Option<(i8, usize)> {
    let number = reader.number(from)?;
    let day = number.spoken.readings.first()?.as_whole()?;
    i8::try_from(day).ok().filter(|day| (1..=31).contains(day)).map(|day| (day, number.to))
}

fn year_number(reader: &TokenizedMessage<'_>, at: usize) -> (Option<i16>, usize) {
    let year = reader
        .token(at)
        .filter(|token| token.kind == MessageTokenKind::Digits)
        .and_then(|token| numbers::digits::to_ascii(token.text).parse::<i16>().ok())
        .filter(|year| (1990..2100).contains(year));
    (year, if year.is_some() { at + 1 } else { at })
}

fn nearest_day(reader: &TokenizedMessage<'_>, at: usize, day: i8) -> Vec<DateExpression> {
    list_sides(reader, at).into_iter().map(|side| DateExpression::DayOfMonth { day, side }).collect()
}

fn list_dated_expressions(
    reader: &TokenizedMessage<'_>,
    at: usize,
    day: i8,
    month: i8,
    year: Option<i16>,
) -> Vec<DateExpression> {
    // A leap year when none is said, so that 29 February is a day and 31 February is none.
    if Date::new(year.unwrap_or(2024), month, day).is_err() {
        return Vec::new();
    }
    let sides = if year.is_some() { vec![DateSide::After] } else { list_sides(reader, at) };
    sides.into_iter().map(|side| DateExpression::Dated { day, month, year, side }).collect()
}

fn weekday(reader: &TokenizedMessage<'_>, at: usize) -> Option<DateMentionSpan> {
    let want = |meaning| match meaning {
        Meaning::Weekday(weekday) => Some(weekday),
        _ => None,
    };
    let weekday = reader.find_inflected(at, want)?;
    // What is a day only under an ending and stands before a case word is a name.
    let token = reader.token(at)?;
    if token.named == NameLikelihood::Surely && token.find(crate::lexicon::Languages::EVERY, want).is_none() {
        return None;
    }
    Weekday::from_monday_one_offset(weekday).ok()?;
    let whens =
        list_sides(reader, at).into_iter().map(|side| DateExpression::Weekday { weekday, side }).collect();
    Some(build_span(at, at + 1, whens))
}
