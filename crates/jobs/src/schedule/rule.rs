//! When a schedule fires.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use croner::Cron;
use munshi_types::{Timestamp, Zone};

use crate::error::{Error, Result};

/// `cron 0 9 * * 1-5`, by the clock on the wall of a zone, or `every 1800`, in seconds whatever the clock says.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduleRule {
    Cron(Box<Cron>),
    Every(Duration),
}

impl ScheduleRule {
    pub fn cron(expression: &str) -> Result<Self> {
        let cron = Cron::from_str(expression).map_err(|error| {
            Error::Rule(format!(
                "invalid cron expression `{expression}` ({error}): use five fields, such as 0 9 * * 1-5"
            ))
        })?;
        Ok(Self::Cron(Box::new(cron)))
    }

    pub fn every(pause: Duration) -> Result<Self> {
        if pause < Duration::from_secs(1) {
            return Err(Error::Rule("a schedule can't fire more than once a second".to_owned()));
        }
        Ok(Self::Every(Duration::from_secs(pause.as_secs())))
    }

    /// Every day at a local time.
    pub fn daily(hour: u8, minute: u8) -> Result<Self> {
        Self::cron(&format!("{minute} {hour} * * *"))
    }

    /// Every week on a day at a local time; 0 is Sunday.
    pub fn weekly(day: u8, hour: u8, minute: u8) -> Result<Self> {
        Self::cron(&format!("{minute} {hour} * * {day}"))
    }

    /// Every month on a day that every month has, at a local time.
    pub fn monthly(day: u8, hour: u8, minute: u8) -> Result<Self> {
        if !(1..=28).contains(&day) {
            return Err(Error::Rule(format!("not every month has a day {day}: use 1 to 28")));
        }
        Self::cron(&format!("{minute} {hour} {day} * *"))
    }

    /// The first time strictly after `moment`.
    pub fn next_after(&self, moment: Timestamp, zone: &Zone) -> Result<Timestamp> {
        match self {
            Self::Every(pause) => Ok(moment.plus(*pause)),
            Self::Cron(cron) => {
                let local = moment.to_jiff().to_zoned(zone.to_jiff());
                let next = cron.find_next_occurrence(&local, false).map_err(|error| {
                    Error::Rule(format!("`{}` has no next occurrence: {error}", cron.as_str()))
                })?;
                Ok(next.timestamp().into())
            }
        }
    }

    /// The next time after a firing that was due at `due` and happens now. Times missed meanwhile are not made up for,
    /// and an interval keeps its beat.
    pub(crate) fn next_after_firing(&self, due: Timestamp, now: Timestamp, zone: &Zone) -> Result<Timestamp> {
        match self {
            Self::Cron(_) => self.next_after(now.max(due), zone),
            Self::Every(pause) => {
                let beats = now.since(due).as_secs() / pause.as_secs().max(1) + 1;
                Ok(due.plus(pause.saturating_mul(u32::try_from(beats).unwrap_or(u32::MAX))))
            }
        }
    }
}

impl fmt::Display for ScheduleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron(cron) => write!(f, "cron {}", cron.as_str()),
            Self::Every(pause) => write!(f, "every {}", pause.as_secs()),
        }
    }
}

impl FromStr for ScheduleRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(' ') {
            Some(("cron", expression)) => Self::cron(expression),
            Some(("every", seconds)) if seconds.parse::<u64>().is_ok_and(|seconds| seconds > 0) => {
                Self::every(Duration::from_secs(seconds.parse().unwrap_or(1)))
            }
            _ => Err(Error::Rule(format!(
                "`{text}` is not a schedule: use `cron 0 9 * * 1-5` or `every 1800`"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(rule: &str, from: &str, zone: &str) -> String {
        let rule: ScheduleRule = rule.parse().unwrap();
        rule.next_after(from.parse().unwrap(), &zone.parse().unwrap()).unwrap().to_string()
    }

    #[test]
    fn cron_follows_the_clock_on_the_wall() {
        assert_eq!(next("cron 0 9 * * *", "2026-11-15T03:29:59Z", "Asia/Kolkata"), "2026-11-15T03:30:00Z");
        assert_eq!(next("cron 0 9 * * *", "2026-11-15T03:30:00Z", "Asia/Kolkata"), "2026-11-16T03:30:00Z");
        // The night London's clocks go back, 9:00 is an hour later in UTC.
        assert_eq!(next("cron 0 9 * * *", "2026-10-24T12:00:00Z", "Europe/London"), "2026-10-25T09:00:00Z");
        assert_eq!(next("cron 0 9 * * *", "2026-10-23T12:00:00Z", "Europe/London"), "2026-10-24T08:00:00Z");
        // 1:30 does not exist when they go forward: it fires once that night, at 2:00, not never.
        assert_eq!(next("cron 30 1 * * *", "2027-03-27T12:00:00Z", "Europe/London"), "2027-03-28T01:00:00Z");
        assert_eq!(next("cron 30 1 * * *", "2027-03-28T01:00:00Z", "Europe/London"), "2027-03-29T00:30:00Z");
        // 1:30 is there twice when they go back: it fires the first time, and then not before the next night.
        assert_eq!(next("cron 30 1 * * *", "2026-10-24T12:00:00Z", "Europe/London"), "2026-10-25T00:30:00Z");
        assert_eq!(next("cron 30 1 * * *", "2026-10-25T00:30:00Z", "Europe/London"), "2026-10-26T01:30:00Z");
        // Half an hour is skipped and doubled on Lord Howe Island.
        assert_eq!(
            next("cron 15 2 * * *", "2026-10-03T00:00:00Z", "Australia/Lord_Howe"),
            "2026-10-03T15:30:00Z"
        );
        assert_eq!(
            next("cron 45 1 * * *", "2027-04-03T00:00:00Z", "Australia/Lord_Howe"),
            "2027-04-03T14:45:00Z"
        );
        assert_eq!(
            next("cron 45 1 * * *", "2027-04-03T14:45:00Z", "Australia/Lord_Howe"),
            "2027-04-04T15:15:00Z"
        );
    }

    #[test]
    fn days_weeks_and_months_are_checked() {
        let shown =
            |rule: Result<ScheduleRule>| rule.map(|rule| rule.to_string()).map_err(|error| error.to_string());
        assert_eq!(shown(ScheduleRule::daily(2, 30)), Ok("cron 30 2 * * *".to_owned()));
        assert_eq!(shown(ScheduleRule::weekly(1, 9, 0)), Ok("cron 0 9 * * 1".to_owned()));
        assert_eq!(shown(ScheduleRule::monthly(28, 9, 0)), Ok("cron 0 9 28 * *".to_owned()));
        assert!(ScheduleRule::monthly(31, 9, 0).is_err() && ScheduleRule::monthly(0, 9, 0).is_err());
        assert!(ScheduleRule::daily(24, 0).is_err() && ScheduleRule::daily(0, 60).is_err());
        assert!(ScheduleRule::weekly(8, 9, 0).is_err());
    }

    #[test]
    fn an_interval_keeps_its_beat_and_makes_up_for_nothing() {
        let rule: ScheduleRule = "every 60".parse().unwrap();
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let zone = Zone::default();
        assert_eq!(rule.next_after_firing(at(60), at(61), &zone).unwrap(), at(120));
        assert_eq!(rule.next_after_firing(at(60), at(1000), &zone).unwrap(), at(1020));
        assert_eq!(
            rule.next_after_firing(at(60), at(10), &zone).unwrap(),
            at(120),
            "a clock that jumped back"
        );
    }

    #[test]
    fn what_is_no_rule_says_what_is() {
        for bad in ["", "cron", "cron x", "cron 61 * * * *", "every 0", "every -5", "every soon", "sometimes"]
        {
            assert!(bad.parse::<ScheduleRule>().is_err(), "{bad}");
        }
        assert!(ScheduleRule::every(Duration::from_millis(10)).is_err());
        for good in ["cron 0 9 * * 1-5", "every 1800"] {
            assert_eq!(good.parse::<ScheduleRule>().unwrap().to_string(), good);
        }
    }
}
