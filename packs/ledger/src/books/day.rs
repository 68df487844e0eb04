//! Days of the tenant's calendar, and the stretches of them that people ask for.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, date};
use jiff::{ToSpan, Unit};
use munshi_store::{Column, FromColumn, Param, ToParam};
use munshi_types::{Timestamp, Zone};
use serde::Serialize;

/// A day, counted from 1970-01-01. Which one a moment lies on is decided by the tenant's zone when it is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerDay(i64);

const FIRST: Date = date(1970, 1, 1);

impl LedgerDay {
    pub fn of(moment: Timestamp, zone: &Zone) -> Self {
        Self::from_date(moment.to_jiff().to_zoned(zone.to_jiff()).date())
    }

    pub fn from_date(day: Date) -> Self {
        Self(FIRST.until((Unit::Day, day)).map_or(0, |span| span.get_days().into()))
    }

    /// How many days after another this is.
    pub const fn days_since(self, other: Self) -> i64 {
        self.0 - other.0
    }

    /// The day before it.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0 - 1)
    }

    /// Noon of it by the tenant's clock: when something happened of which only the day is known.
    pub fn noon(self, zone: &Zone) -> Timestamp {
        let noon = self.to_date().at(12, 0, 0, 0).to_zoned(zone.to_jiff());
        noon.map_or(Timestamp::EPOCH, |noon| noon.timestamp().into())
    }

    pub fn to_date(self) -> Date {
        FIRST.checked_add(self.0.days()).unwrap_or(Date::MAX)
    }
}

impl fmt::Display for LedgerDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_date().fmt(f)
    }
}

impl Serialize for LedgerDay {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for LedgerDay {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self::from_date)
    }
}

impl ToParam for LedgerDay {
    fn to_param(&self) -> Param<'_> {
        Param::Integer(self.0)
    }
}

impl FromColumn for LedgerDay {
    fn from_column(column: Column<'_>) -> munshi_store::Result<Self> {
        i64::from_column(column).map(Self)
    }
}

/// Days from one to another, both of them too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DayRange {
    pub from: LedgerDay,
    pub to: LedgerDay,
}

impl DayRange {
    pub fn day(day: LedgerDay) -> Self {
        Self { from: day, to: day }
    }

    /// The week a day lies in, from Monday to Sunday.
    pub fn week(day: LedgerDay) -> Self {
        let back = i64::from(day.to_date().weekday().to_monday_zero_offset());
        let from = LedgerDay(day.0 - back);
        Self { from, to: LedgerDay(from.0 + 6) }
    }

    pub fn month(day: LedgerDay) -> Self {
        let date = day.to_date();
        Self {
            from: LedgerDay::from_date(date.first_of_month()),
            to: LedgerDay::from_date(date.last_of_month()),
        }
    }

    /// The year of accounts and taxes, from April to March.
    pub fn fiscal_year(day: LedgerDay) -> Self {
        let date = day.to_date();
        let year = if date.month() < 4 { date.year() - 1 } else { date.year() };
        let first = |year: i16| Date::new(year, 4, 1).map_or(day, LedgerDay::from_date);
        Self { from: first(year), to: first(year + 1).previous() }
    }

    /// The calendar's year.
    pub fn year(day: LedgerDay) -> Self {
        let date = day.to_date();
        Self {
            from: LedgerDay::from_date(date.first_of_year()),
            to: LedgerDay::from_date(date.last_of_year()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_by_the_tenants_clock() {
        let late: Timestamp = "2026-11-14T20:00:00Z".parse().unwrap();
        assert_eq!(LedgerDay::of(late, &Zone::default()).to_string(), "2026-11-15");
        assert_eq!(LedgerDay::of(late, &"UTC".parse().unwrap()).to_string(), "2026-11-14");
        assert_eq!("1970-01-02".parse::<LedgerDay>().unwrap(), LedgerDay(1));
        assert_eq!("1969-12-31".parse::<LedgerDay>().unwrap(), LedgerDay(-1));
    }

    #[test]
    fn weeks_begin_on_monday_and_months_end_when_they_end() {
        let day: LedgerDay = "2028-02-15".parse().unwrap();
        let shown = |days: DayRange| (days.from.to_string(), days.to.to_string());
        assert_eq!(shown(DayRange::week(day)), ("2028-02-14".into(), "2028-02-20".into()));
        assert_eq!(shown(DayRange::month(day)), ("2028-02-01".into(), "2028-02-29".into()));
        assert_eq!(shown(DayRange::fiscal_year(day)), ("2027-04-01".into(), "2028-03-31".into()));
        let april: LedgerDay = "2028-04-01".parse().unwrap();
        assert_eq!(shown(DayRange::fiscal_year(april)), ("2028-04-01".into(), "2029-03-31".into()));
    }
}
