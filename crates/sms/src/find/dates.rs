//! Days and times in the forms banks write.

use std::ops::Range;

use jiff::civil::{Date, Time};

use crate::lexicon::SmsWordClass;
use crate::parsed_message::{ParsedSms, SmsTokenUse};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Takes every day and time; the first of each is the message's.
pub(crate) fn dates(page: &mut ParsedSms, day: Option<Date>) {
    let mut at = 0;
    while at < page.len() {
        let found = if page.is_free(at) { date(page, at, day) } else { None };
        match found {
            Some((end, date)) => {
                page.assign_use(at..end, SmsTokenUse::Date);
                page.date = page.date.or(date);
                at = end;
            }
            None => at += 1,
        }
    }
    times(page);
}

/// Where a day that begins here ends, and which it is. A day without a year and none to take it from is still a day.
fn date(page: &ParsedSms, at: usize, day: Option<Date>) -> Option<(usize, Option<Date>)> {
    parse_dotted(page, at)
        .or_else(|| parse_numeric(page, at))
        .map(|(end, date)| (end, Some(date)))
        .or_else(|| parse_named_month(page, at, day))
        .or_else(|| parse_short(page, at, day))
        .or_else(|| month_of_year(page, at).map(|end| (end, None)))
}

/// `Oct-26`, `Oct 2026`: a month, and no day in it.
fn month_of_year(page: &ParsedSms, at: usize) -> Option<usize> {
    month(page, at)?;
    let signed =
        ['-', '/', '\''].iter().any(|sign| page.cut.is_sign(at + 1, *sign)) && page.cut.is_glued(at + 1);
    let year_at = at + 1 + usize::from(signed);
    year(page, year_at)
        .filter(|_| page.cut.lowercase(year_at).len() == 4 || (signed && page.cut.is_glued(year_at)))?;
    Some(year_at + 1)
}

fn number(page: &ParsedSms, at: usize) -> Option<i16> {
    (page.cut.is_digits(at) && page.cut.lowercase(at).len() <= 4)
        .then(|| page.cut.lowercase(at).parse().ok())
        .flatten()
}

fn year(page: &ParsedSms, at: usize) -> Option<i16> {
    let value = number(page, at)?;
    match page.cut.lowercase(at).len() {
        2 => Some(2000 + value),
        4 if (1990..2100).contains(&value) => Some(value),
        _ => None,
    }
}

fn build_date(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// `12.03.2025` is one token.
fn parse_dotted(page: &ParsedSms, at: usize) -> Option<(usize, Date)> {
    let text = page.cut.is_number(at).then(|| page.cut.lowercase(at))?;
    let parts: Vec<&str> = text.split('.').collect();
    let [day, month, year] = parts[..] else { return None };
    let year: i16 = match year.len() {
        2 => 2000 + year.parse::<i16>().ok()?,
        4 => year.parse().ok()?,
        _ => return None,
    };
    Some((at + 1, build_date(year, month.parse().ok()?, day.parse().ok()?)?))
}

/// `12-03-25`, `12/03/2025`, `2025-03-12`, `2025:03:12`.
fn parse_numeric(page: &ParsedSms, at: usize) -> Option<(usize, Date)> {
    let sign = page.cut.shape(at + 1).filter(|_| page.cut.is_glued(at + 1))?;
    let same = page.cut.shape(at + 3) == Some(sign) && page.cut.is_glued(at + 2) && page.cut.is_glued(at + 4);
    let usual = ['-', '/', ':'].iter().any(|usual| page.cut.is_sign(at + 1, *usual));
    if !same || !usual {
        return None;
    }
    let (first, second) = (number(page, at)?, number(page, at + 2)?);
    let found = if page.cut.lowercase(at).len() == 4 {
        build_date(year(page, at)?, second, number(page, at + 4)?)
    } else if page.cut.is_sign(at + 1, ':') {
        None
    } else {
        let year = year(page, at + 4)?;
        build_date(year, second, first).or_else(|| build_date(year, first, second))
    };
    found.map(|date| (at + 5, date))
}

fn month(page: &ParsedSms, at: usize) -> Option<i16> {
    let word = page.cut.lowercase(at);
    let known = page.cut.is_word(at) && (3..=9).contains(&word.len()) && word.is_ascii();
    let place = MONTHS.iter().position(|month| known && word.starts_with(month))?;
    let whole = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ][place];
    (whole.starts_with(word) || word == "sept")
        .then(|| i16::try_from(place).map(|place| place + 1).ok())
        .flatten()
}

/// `12-Mar-25`, `12Mar25`, `12 March 2025`, `Mar 12, 2025`, and the same without a year.
fn parse_named_month(page: &ParsedSms, at: usize, today: Option<Date>) -> Option<(usize, Option<Date>)> {
    let step = |mut at: usize| {
        while ['-', '/', ',', '\'', '.'].iter().any(|sign| page.cut.is_sign(at, *sign)) {
            at += 1;
        }
        at
    };
    if let Some(month) = month(page, at) {
        let (day_at, year_at) = (step(at + 1), step(step(at + 1) + 1));
        let day = number(page, day_at).filter(|_| page.cut.lowercase(day_at).len() <= 2)?;
        let year = year(page, year_at).filter(|_| page.cut.lowercase(year_at).len() == 4)?;
        return Some((year_at + 1, Some(build_date(year, month, day)?)));
    }
    let day = number(page, at).filter(|_| page.cut.lowercase(at).len() <= 2)?;
    let suffix = matches!(page.cut.lowercase(at + 1), "st" | "nd" | "rd" | "th") && page.cut.is_glued(at + 1);
    let month_at = step(at + 1 + usize::from(suffix));
    let month = month(page, month_at)?;
    let year_at = step(month_at + 1);
    match year(page, year_at) {
        // "12 Mar 18:20" has a time, not a year.
        Some(year) if !page.cut.is_sign(year_at + 1, ':') => {
            Some((year_at + 1, Some(build_date(year, month, day)?)))
        }
        _ => Some((month_at + 1, resolve_year(month, day, today))),
    }
}

/// `12-03` or `12/03`, only behind "on".
fn parse_short(page: &ParsedSms, at: usize, today: Option<Date>) -> Option<(usize, Option<Date>)> {
    let behind = at.checked_sub(1).is_some_and(|before| page.is_class(before, SmsWordClass::On));
    let signed = page.cut.is_sign(at + 1, '-') || page.cut.is_sign(at + 1, '/');
    if !behind || !signed || !page.cut.is_glued(at + 1) || !page.cut.is_glued(at + 2) {
        return None;
    }
    let (day, month) = (number(page, at)?, number(page, at + 2)?);
    build_date(2024, month, day)?;
    Some((at + 3, resolve_year(month, day, today)))
}

/// The latest such day that is not after today.
fn resolve_year(month: i16, day: i16, today: Option<Date>) -> Option<Date> {
    let today = today?;
    (0..5).filter_map(|back| build_date(today.year() - back, month, day)).find(|date| *date <= today)
}

fn times(page: &mut ParsedSms) {
    let mut at = 0;
    while at < page.len() {
        match time(page, at).or_else(|| hour(page, at)) {
            Some((tokens, time)) => {
                at = tokens.end;
                page.assign_use(tokens, SmsTokenUse::Time);
                page.time = page.time.or(Some(time));
            }
            None => at += 1,
        }
    }
}

/// `11 PM`, `9.30 AM`.
fn hour(page: &ParsedSms, at: usize) -> Option<(Range<usize>, Time)> {
    let noon = match page.cut.lowercase(at + 1) {
        "am" => 0,
        "pm" => 12,
        _ => return None,
    };
    let text = (page.is_free(at) && page.cut.is_number(at)).then(|| page.cut.lowercase(at))?;
    let (hour, minute) = text.split_once('.').unwrap_or((text, "0"));
    let hour: i8 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    Some((at..at + 2, Time::new(hour % 12 + noon, minute.parse().ok()?, 0, 0).ok()?))
}

/// `18:20`, `18:20:11`, `06:20:11 PM`.
fn time(page: &ParsedSms, at: usize) -> Option<(Range<usize>, Time)> {
    let piece = |at: usize| {
        let short = page.is_free(at) && page.cut.is_digits(at) && page.cut.lowercase(at).len() <= 2;
        short.then(|| page.cut.lowercase(at).parse::<i8>().ok()).flatten()
    };
    let colon = |at: usize| page.cut.is_sign(at, ':') && page.cut.is_glued(at) && page.cut.is_glued(at + 1);
    if !colon(at + 1) {
        return None;
    }
    let (hour, minute) = (piece(at)?, piece(at + 2)?);
    let (second, mut end) = match colon(at + 3).then(|| piece(at + 4)).flatten() {
        Some(second) => (second, at + 5),
        None => (0, at + 3),
    };
    let hour = match page.cut.lowercase(end) {
        "pm" if hour < 12 => hour + 12,
        "am" if hour == 12 => 0,
        _ => hour,
    };
    end += usize::from(matches!(page.cut.lowercase(end), "am" | "pm"));
    end += usize::from(page.cut.lowercase(end) == "ist");
    Some((at..end, Time::new(hour, minute, second, 0).ok()?))
}
