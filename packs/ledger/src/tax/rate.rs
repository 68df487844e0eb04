//! A rate of tax, in hundredths of a percent.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, date};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(i64);

/// The tax began on this day.
const BEGAN: Date = date(2017, 7, 1);
/// Twelve and twenty-eight percent went, forty came.
const NEW_RATES: Date = date(2025, 9, 22);
/// Until this day tobacco stayed at twenty-eight.
const TOBACCO: Date = date(2026, 2, 1);

const OLD: [i64; 9] = [0, 25, 150, 300, 500, 750, 1_200, 1_800, 2_800];
/// Six and twelve are for bricks.
const NEW: [i64; 10] = [0, 25, 150, 300, 500, 600, 750, 1_200, 1_800, 4_000];

impl Rate {
    pub const ZERO: Self = Self(0);

    pub const fn from_hundredths(hundredths: i64) -> Self {
        Self(hundredths)
    }

    pub const fn as_hundredths(self) -> i64 {
        self.0
    }

    /// Half of it, as the union's and the state's parts are.
    #[must_use]
    pub const fn half(self) -> HalfRate {
        HalfRate(self.0)
    }

    /// The first day of the rates that hold on a day.
    pub fn present_since(day: Date) -> Date {
        if day < NEW_RATES { BEGAN } else { NEW_RATES }
    }

    /// Refuses a rate that no law had on a day.
    pub fn on(self, day: Date) -> Result<Self> {
        let rates = match day {
            day if day < BEGAN => return Err(Error::invalid(format!("there was no GST on {day} yet"))),
            day if day < NEW_RATES => OLD.as_slice(),
            _ => NEW.as_slice(),
        };
        if rates.contains(&self.0) || (self.0 == 2_800 && day < TOBACCO) {
            return Ok(self);
        }
        let shown: Vec<String> = rates.iter().map(|rate| Self(*rate).to_string()).collect();
        Err(Error::invalid(format!("there is no GST of {self} on {day}: it is one of {}", shown.join(", "))))
    }
}

/// Half a rate, only to be shown: 2.5%.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfRate(i64);

impl fmt::Display for HalfRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        percent(self.0 * 10 / 2, 1_000, f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        percent(self.0, 100, f)
    }
}

/// Without noughts at the end: 5%, 0.25%.
fn percent(parts: i64, of: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (whole, rest) = (parts / of, parts % of);
    if rest == 0 {
        return write!(f, "{whole}%");
    }
    let digits = (of / 10).to_string().len();
    let rest = format!("{rest:0digits$}");
    write!(f, "{whole}.{}%", rest.trim_end_matches('0'))
}

impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::invalid(format!("`{text}` is no rate: write it as 5% or 0.25%"));
        let plain = text.trim().trim_end_matches('%').trim_end();
        let (whole, part) = plain.split_once('.').unwrap_or((plain, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 3 || part.len() > 2 || !digits(whole) || !digits(part) {
            return Err(bad());
        }
        let whole: i64 = whole.parse().map_err(|_| bad())?;
        let part: i64 = format!("{part:0<2}").parse().map_err(|_| bad())?;
        let rate = whole * 100 + part;
        if rate <= 10_000 { Ok(Self(rate)) } else { Err(bad()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_shown() {
        for (text, hundredths, shown) in
            [("5", 500, "5%"), ("0.25%", 25, "0.25%"), ("18 %", 1_800, "18%"), ("7.5", 750, "7.5%")]
        {
            let rate: Rate = text.parse().unwrap();
            assert_eq!((rate.as_hundredths(), rate.to_string().as_str()), (hundredths, shown));
        }
        for bad in ["", "%", "-5", "5.555", "1000", "five", "101", "1e1"] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
        let halves: Vec<String> =
            [500, 25, 1_800, 150].map(|rate| Rate::from_hundredths(rate).half().to_string()).to_vec();
        assert_eq!(halves, ["2.5%", "0.125%", "9%", "0.75%"]);
    }

    #[test]
    fn a_rate_is_of_its_time() {
        let rate = |hundredths| Rate::from_hundredths(hundredths);
        let (before, after) = (date(2025, 9, 21), date(2025, 9, 22));
        assert!(rate(2_800).on(before).is_ok() && rate(4_000).on(before).is_err());
        assert!(rate(4_000).on(after).is_ok() && rate(2_800).on(after).is_ok());
        assert!(rate(2_800).on(date(2026, 1, 31)).is_ok() && rate(2_800).on(date(2026, 2, 1)).is_err());
        assert!(rate(500).on(date(2017, 6, 30)).is_err() && rate(700).on(after).is_err());
    }
}
