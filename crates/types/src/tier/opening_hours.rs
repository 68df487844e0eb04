//! When people of a team are there: hours by the week and days on which nobody is.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, Time, Weekday};
use serde::{Deserialize, Serialize};

use crate::{Timestamp, Zone};

/// So many days ahead an opening is looked for.
const AHEAD: usize = 60;
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Some days of the week, from one time to another on the same day: `mon-fri 10:00-18:00`, `sat 10:00-14:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OpeningHours {
    /// From Monday, which is 0; the last may stand before the first.
    first: u8,
    last: u8,
    /// In minutes of the day.
    from: u16,
    until: u16,
}

/// A day on which nobody is there: `2026-11-19`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Holiday(Date);

/// Whether somebody is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    Open,
    /// Until then; none where no day is known on which somebody will be.
    ClosedUntil(Option<Timestamp>),
}

/// Looks whether somebody is there by the clock of a zone. Without hours somebody is on every day that is no holiday.
pub fn find_opening(
    hours: &[OpeningHours],
    holidays: &[Holiday],
    (now, zone): (Timestamp, &Zone),
) -> Opening {
    let local = now.to_jiff().to_zoned(zone.to_jiff());
    let always = [OpeningHours { first: 0, last: 6, from: 0, until: MIDNIGHT }];
    let hours = if hours.is_empty() { &always[..] } else { hours };
    let mut day = local.date();
    for _ in 0..AHEAD {
        if !holidays.contains(&Holiday(day)) {
            let mut open: Vec<&OpeningHours> = hours.iter().filter(|hours| hours.is_on(day)).collect();
            open.sort_by_key(|hours| hours.from);
            for hours in open {
                let (Some(from), Some(until)) =
                    (moment(day, hours.from, zone), moment(day, hours.until, zone))
                else {
                    continue;
                };
                if from <= now && now < until {
                    return Opening::Open;
                }
                if now < from {
                    return Opening::ClosedUntil(Some(from));
                }
            }
        }
        match day.tomorrow() {
            Ok(next) => day = next,
            Err(_) => break,
        }
    }
    Opening::ClosedUntil(None)
}

const MIDNIGHT: u16 = 24 * 60;

/// A time of a day as a moment; midnight at its end is the next day's beginning.
fn moment(day: Date, minutes: u16, zone: &Zone) -> Option<Timestamp> {
    let (day, minutes) = if minutes >= MIDNIGHT { (day.tomorrow().ok()?, 0) } else { (day, minutes) };
    let (hour, minute) = (i8::try_from(minutes / 60).ok()?, i8::try_from(minutes % 60).ok()?);
    let time = Time::new(hour, minute, 0, 0).ok()?;
    let zoned = day.to_datetime(time).to_zoned(zone.to_jiff()).ok()?;
    Some(zoned.timestamp().into())
}

const fn number(day: Weekday) -> u8 {
    match day {
        Weekday::Monday => 0,
        Weekday::Tuesday => 1,
        Weekday::Wednesday => 2,
        Weekday::Thursday => 3,
        Weekday::Friday => 4,
        Weekday::Saturday => 5,
        Weekday::Sunday => 6,
    }
}

impl OpeningHours {
    fn is_on(&self, day: Date) -> bool {
        let day = number(day.weekday());
        match self.first <= self.last {
            true => (self.first..=self.last).contains(&day),
            false => day >= self.first || day <= self.last,
        }
    }
}

impl FromStr for OpeningHours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("`{text}` is not opening hours: write `mon-fri 10:00-18:00`");
        let (days, times) = text.trim().split_once(' ').ok_or_else(invalid)?;
        let day = |name: &str| {
            let found = DAYS.iter().position(|known| *known == name);
            found.and_then(|found| u8::try_from(found).ok()).ok_or_else(invalid)
        };
        let (first, last) = days.split_once('-').unwrap_or((days, days));
        let (from, until) = times.trim().split_once('-').ok_or_else(invalid)?;
        let read = |time: &str| parse_minutes(time).ok_or_else(invalid);
        let hours = Self { first: day(first)?, last: day(last)?, from: read(from)?, until: read(until)? };
        let over_midnight = || {
            format!(
                "`{text}` does not end on its day: write hours over midnight as two, `fri 18:00-24:00` and `sat 00:00-02:00`"
            )
        };
        if hours.from < hours.until { Ok(hours) } else { Err(over_midnight()) }
    }
}

/// `09:30`; `24:00` is the day's end.
fn parse_minutes(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let is_plain = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let (hour, minute): (u16, u16) = match is_plain(hour) && is_plain(minute) {
        true => (hour.parse().ok()?, minute.parse().ok()?),
        false => return None,
    };
    let minutes = hour * 60 + minute;
    (minute < 60 && minutes <= MIDNIGHT).then_some(minutes)
}

impl fmt::Display for OpeningHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |day: u8| DAYS.get(usize::from(day)).copied().unwrap_or_default();
        f.write_str(name(self.first))?;
        if self.last != self.first {
            write!(f, "-{}", name(self.last))?;
        }
        let (from, until) = (self.from, self.until);
        write!(f, " {:02}:{:02}-{:02}:{:02}", from / 60, from % 60, until / 60, until % 60)
    }
}

impl TryFrom<String> for OpeningHours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<OpeningHours> for String {
    fn from(hours: OpeningHours) -> Self {
        hours.to_string()
    }
}

impl FromStr for Holiday {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let day = text.trim();
        let invalid = || format!("`{text}` is not a day: write `2026-11-19`");
        if day.len() != 10 {
            return Err(invalid());
        }
        day.parse::<Date>().map(Self).map_err(|_| invalid())
    }
}

impl fmt::Display for Holiday {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for Holiday {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Holiday> for String {
    fn from(day: Holiday) -> Self {
        day.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn look(hours: &[&str], holidays: &[&str], now: &str) -> Opening {
        let hours: Vec<OpeningHours> = hours.iter().map(|text| text.parse().unwrap()).collect();
        let holidays: Vec<Holiday> = holidays.iter().map(|text| text.parse().unwrap()).collect();
        find_opening(&hours, &holidays, (at(now), &"Asia/Kolkata".parse().unwrap()))
    }

    #[test]
    fn hours_read_back_as_they_are_written() {
        for text in ["mon-fri 10:00-18:00", "sat 10:00-14:00", "sat-mon 00:00-24:00"] {
            assert_eq!(text.parse::<OpeningHours>().unwrap().to_string(), text);
        }
        for bad in [
            "",
            "mon",
            "mon 18:00-10:00",
            "monday 10:00-18:00",
            "mon 10-18",
            "mon 10:00-25:00",
            "mon 10:60-12:00",
        ] {
            assert!(bad.parse::<OpeningHours>().is_err(), "{bad}");
        }
        assert_eq!("2026-11-19".parse::<Holiday>().unwrap().to_string(), "2026-11-19");
        assert!("2026-02-30".parse::<Holiday>().is_err() && "19.11.2026".parse::<Holiday>().is_err());
    }

    #[test]
    fn somebody_is_there_by_the_clock_of_the_zone() {
        let week = ["mon-fri 10:00-18:00", "sat 10:00-14:00"];
        // A Thursday. Half past nine in India, then ten, then six.
        assert_eq!(
            look(&week, &[], "2026-11-19T04:00:00Z"),
            Opening::ClosedUntil(Some(at("2026-11-19T04:30:00Z")))
        );
        assert_eq!(look(&week, &[], "2026-11-19T04:30:00Z"), Opening::Open);
        assert_eq!(
            look(&week, &[], "2026-11-19T12:30:00Z"),
            Opening::ClosedUntil(Some(at("2026-11-20T04:30:00Z")))
        );
        // Friday is a holiday; after Saturday noon it is Monday.
        let friday = ["2026-11-20"];
        assert_eq!(
            look(&week, &friday, "2026-11-19T12:30:00Z"),
            Opening::ClosedUntil(Some(at("2026-11-21T04:30:00Z")))
        );
        assert_eq!(
            look(&week, &friday, "2026-11-21T09:00:00Z"),
            Opening::ClosedUntil(Some(at("2026-11-23T04:30:00Z")))
        );
    }

    #[test]
    fn without_hours_only_holidays_are_free() {
        assert_eq!(look(&[], &[], "2026-11-19T20:00:00Z"), Opening::Open);
        assert_eq!(
            look(&[], &["2026-11-20"], "2026-11-19T20:00:00Z"),
            Opening::ClosedUntil(Some(at("2026-11-20T18:30:00Z")))
        );
    }
}
