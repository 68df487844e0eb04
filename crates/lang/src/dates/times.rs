//! Clock times: 5:30, 5 pm, saade paanch baje, subah 7 baje.

use jiff::civil::Time;
use serde::Serialize;

use crate::lexicon::Meaning;
use crate::number::Number;
use crate::numbers::{self, Certainty};
use crate::token::{MessageToken, MessageTokenKind};
use crate::tokenized_message::TokenizedMessage;

/// A clock time as a message says it; morning and evening both when it does not say which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimeMention {
    pub text: String,
    pub start: usize,
    pub certainty: Certainty,
    pub readings: Vec<Time>,
}

/// The tokens a time covers, and what it may mean.
pub(crate) struct TimeMentionSpan {
    pub from: usize,
    pub to: usize,
    pub readings: Vec<Time>,
}

/// Every clock time of a message.
pub(crate) fn find(reader: &TokenizedMessage<'_>) -> Vec<TimeMentionSpan> {
    let mut found: Vec<TimeMentionSpan> = Vec::new();
    let mut at = 0;
    while at < reader.tokens.len() {
        match read(reader, at) {
            Some(timed) => {
                at = timed.to;
                found.push(timed);
            }
            None => at += 1,
        }
    }
    found
}

pub(crate) fn to_mention(
    reader: &TokenizedMessage<'_>,
    message: &str,
    timed: &TimeMentionSpan,
) -> TimeMention {
    let certainty = if timed.readings.len() == 1 { Certainty::Exact } else { Certainty::Ambiguous };
    let text = reader.text(message, timed.from, timed.to).to_owned();
    let start = reader.token(timed.from).map_or(0, |token| token.start);
    TimeMention { text, start, certainty, readings: timed.readings.clone() }
}

fn read(reader: &TokenizedMessage<'_>, from: usize) -> Option<TimeMentionSpan> {
    let (hour, minute, to, written) =
        read_colon_time(reader, from).or_else(|| read_spoken_time(reader, from))?;
    let counted = reader.token(to).is_some_and(|token| token.key == "ta");
    let of_day = from.checked_sub(1).is_some_and(|at| part_of_day(reader, at).is_some());
    // In Bengali and Odia a ta after digits also counts things: 12 ta dim.
    let clock = is_clock(reader, to) && (of_day || !counted);
    let at_hour = to == from + 1 && reader.token(from).is_some_and(has_hour_ending);
    let until = is_clock_range(reader, to);
    let after = if clock { to + 1 } else { to };
    let half = part_of_day(reader, after).map(|half| (half, after + 1));
    // `am` and `pm` make a time of a bare number; other parts of the day need the clock word.
    let marked = reader
        .token(after)
        .is_some_and(|token| ["am", "pm"].iter().any(|mark| token.text.eq_ignore_ascii_case(mark)));
    // Nobody knows what 13 pm is.
    if !(clock || written || marked || until || at_hour) || (marked && !written && hour > 12) {
        return None;
    }
    let before = from.checked_sub(1).and_then(|at| part_of_day(reader, at));
    let (half, to) = match (before, half) {
        (Some(half), _) => (Some(half), after),
        (None, Some((half, to))) => (Some(half), to),
        (None, None) => (None, after),
    };
    let readings = readings(hour, minute, half);
    (!readings.is_empty()).then_some(TimeMentionSpan { from, to, readings })
}

/// Whether a number word itself says that it is an hour: পাঁচটায়.
fn has_hour_ending(token: &MessageToken<'_>) -> bool {
    const ENDINGS: &[&str] = &["টায়", "টায়", "tay", "ଟାରେ"];
    token.is_word() && ENDINGS.iter().any(|ending| token.text.ends_with(ending))
}

fn is_clock(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    reader.find_inflected(at, |meaning| (meaning == Meaning::Clock).then_some(())).is_some()
}

/// Whether the end of a range with its clock word follows: 5 *se 7 baje*.
fn is_clock_range(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    let joins = reader.means(at, Meaning::Range)
        || reader.means(at, Meaning::To)
        || reader.token(at).is_some_and(|token| token.text == "-");
    joins && read_spoken_time(reader, at + 1).is_some_and(|(.., to, _)| is_clock(reader, to))
}

/// 5:30 and 17.30 with a colon.
fn read_colon_time(reader: &TokenizedMessage<'_>, from: usize) -> Option<(i8, i8, usize, bool)> {
    let part = |at: usize| {
        let token = reader.token(at).filter(|token| token.kind == MessageTokenKind::Digits)?;
        numbers::digits::to_ascii(token.text).parse::<i8>().ok()
    };
    let sign = reader.token(from + 1).filter(|token| token.text == ":" && token.glued)?;
    let minute = part(from + 2).filter(|_| reader.token(from + 2).is_some_and(|token| token.glued))?;
    let hour = part(from)?;
    let width = reader.token(from + 2)?.text.chars().count();
    (sign.glued && width == 2 && (0..24).contains(&hour) && (0..60).contains(&minute)).then_some((
        hour,
        minute,
        skip_seconds(reader, from + 3),
        true,
    ))
}

/// Where the seconds end, when there are any; nobody means them.
fn skip_seconds(reader: &TokenizedMessage<'_>, at: usize) -> usize {
    let colon = reader.token(at).is_some_and(|token| token.text == ":" && token.glued);
    let seconds = reader.token(at + 1).is_some_and(|token| {
        token.kind == MessageTokenKind::Digits && token.glued && token.text.chars().count() == 2
    });
    if colon && seconds { at + 2 } else { at }
}

/// A number before the clock word; its quarters are minutes.
fn read_spoken_time(reader: &TokenizedMessage<'_>, from: usize) -> Option<(i8, i8, usize, bool)> {
    let number = reader.number(from)?;
    let [value] = number.spoken.readings.as_slice() else { return None };
    if let Some((hour, minute)) = read_pointed_time(reader, from).filter(|_| number.to == from + 1) {
        return Some((hour, minute, number.to, false));
    }
    let minutes = value
        .checked_mul(60)?
        .as_whole()
        .filter(|minutes| *minutes < 24 * 60 && *value >= Number::from_hundredths(50))?;
    let (hour, minute) = (i8::try_from(minutes / 60).ok()?, i8::try_from(minutes % 60).ok()?);
    Some((hour, minute, number.to, false))
}

/// 5.30 is half past five, not three tenths past it.
fn read_pointed_time(reader: &TokenizedMessage<'_>, at: usize) -> Option<(i8, i8)> {
    let token = reader.token(at).filter(|token| token.kind == MessageTokenKind::Digits)?;
    let written = numbers::digits::to_ascii(token.text);
    let (hour, minute) = written.split_once('.').filter(|(_, minute)| minute.len() == 2)?;
    let (hour, minute) = (hour.parse().ok()?, minute.parse().ok()?);
    ((0..24).contains(&hour) && (0..60).contains(&minute)).then_some((hour, minute))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Morning,
    Noon,
    Evening,
    Night,
}

fn part_of_day(reader: &TokenizedMessage<'_>, at: usize) -> Option<Half> {
    reader.find_inflected(at, |meaning| match meaning {
        Meaning::Morning => Some(Half::Morning),
        Meaning::Noon => Some(Half::Noon),
        Meaning::Evening => Some(Half::Evening),
        Meaning::Night => Some(Half::Night),
        _ => None,
    })
}

fn readings(hour: i8, minute: i8, half: Option<Half>) -> Vec<Time> {
    let time = |hour: i8| Time::new(hour, minute, 0, 0).ok();
    if hour > 12 || hour == 0 {
        return time(hour).into_iter().collect();
    }
    let (morning, evening) = (hour % 12, hour % 12 + 12);
    let hours: &[i8] = match half {
        Some(Half::Morning) => &[morning],
        // Eleven is still before noon, one is after it.
        Some(Half::Noon) => &[if hour == 11 { 11 } else { evening }],
        Some(Half::Evening) => &[evening],
        // Night runs from seven past midnight to four.
        Some(Half::Night) => &[if (1..=4).contains(&hour) || hour == 12 { morning } else { evening }],
        None => &[morning, evening],
    };
    hours.iter().filter_map(|hour| time(*hour)).collect()
}
