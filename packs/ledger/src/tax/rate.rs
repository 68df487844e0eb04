//! A rate of tax, in hundredths of a percent.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, date};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaxRate(i64);

/// The tax began on this day.
const BEGAN: Date = date(2017, 7, 1);
/// Twelve and twenty-eight percent went, forty came.
const NEW_RATES: Date = date(2025, 9, 22);
/// Until this day tobacco stayed at twenty-eight.
const TOBACCO: Date = date(2026, 2, 1);

const OLD: [i64; 9] = [0, 25, 150, 300, 500, 750, 1_200, 1_800, 2_800];
const NEW: [i64; 8] = [0, 25, 150, 300, 500, 750, 1_800, 4_000];
/// Six and twelve stayed for bricks alone, which have these codes.
const BRICKS: [i64; 2] = [600, 1_200];
const BRICK_CODES: [&str; 4] = ["6815", "6901", "6904", "6905"];
/// Twenty-eight stayed for pan masala and tobacco for a while.
const TOBACCO_CODES: [&str; 4] = ["2106", "2401", "2402", "2403"];

impl TaxRate {
    pub const ZERO: Self = Self(0);

    pub const fn from_hundredths(hundredths: i64) -> Self {
        Self(hundredths)
    }

    pub const fn as_hundredths(self) -> i64 {
        self.0
    }

    /// Half of it, as the union's and the state's parts are.
    #[must_use]
    pub const fn half(self) -> HalfTaxRate {
        HalfTaxRate(self.0)
    }

    /// The first day of the rates that hold on a day.
    pub fn rates_valid_since(day: Date) -> Date {
        if day < NEW_RATES { BEGAN } else { NEW_RATES }
    }

    /// Refuses a rate that no law had on a day for what has this HSN code; a code that nobody said is empty, and rates
    /// that stayed for a few goods alone need one.
    pub fn validate_on(self, day: Date, hsn: &str) -> Result<Self> {
        let rates = match day {
            day if day < BEGAN => return Err(Error::invalid(format!("there was no GST on {day} yet"))),
            day if day < NEW_RATES => OLD.as_slice(),
            _ => NEW.as_slice(),
        };
        let is_of = |codes: &[&str]| codes.iter().any(|code| hsn.starts_with(code));
        let is_brick = day >= NEW_RATES && BRICKS.contains(&self.0) && is_of(&BRICK_CODES);
        let is_tobacco = self.0 == 2_800 && day < TOBACCO && is_of(&TOBACCO_CODES);
        if rates.contains(&self.0) || is_brick || is_tobacco {
            return Ok(self);
        }
        let shown: Vec<String> = rates.iter().map(|rate| Self(*rate).to_string()).collect();
        let what = format!("there is no GST of {self} on {day}: it is one of {}", shown.join(", "));
        Err(Error::BadRate(what))
    }
}

/// Half a rate, only to be shown: 2.5%.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfTaxRate(i64);

impl fmt::Display for HalfTaxRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        percent(self.0 * 10 / 2, 1_000, f)
    }
}

impl fmt::Display for TaxRate {
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

impl FromStr for TaxRate {
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
            let rate: TaxRate = text.parse().unwrap();
            assert_eq!((rate.as_hundredths(), rate.to_string().as_str()), (hundredths, shown));
        }
        for bad in ["", "%", "-5", "5.555", "1000", "five", "101", "1e1"] {
            assert!(bad.parse::<TaxRate>().is_err(), "{bad}");
        }
        let halves: Vec<String> =
            [500, 25, 1_800, 150].map(|rate| TaxRate::from_hundredths(rate).half().to_string()).to_vec();
        assert_eq!(halves, ["2.5%", "0.125%", "9%", "0.75%"]);
    }

    #[test]
    fn a_rate_is_of_its_time() {
        let is = |hundredths, day, hsn| TaxRate::from_hundredths(hundredths).validate_on(day, hsn).is_ok();
        let (before, after) = (date(2025, 9, 21), date(2025, 9, 22));
        assert!(is(2_800, before, "") && !is(4_000, before, ""));
        assert!(is(4_000, after, "") && !is(2_800, after, ""));
        assert!(is(2_800, date(2026, 1, 31), "2402") && !is(2_800, date(2026, 2, 1), "2402"));
        assert!(!is(500, date(2017, 6, 30), "") && !is(700, after, ""));
    }

    #[test]
    fn twelve_stayed_for_bricks_alone() {
        let is = |hundredths, day, hsn| TaxRate::from_hundredths(hundredths).validate_on(day, hsn).is_ok();
        let (before, after) = (date(2025, 9, 21), date(2025, 9, 22));
        assert!(is(1_200, before, "") && is(1_200, before, "0405"));
        assert!(!is(1_200, after, "") && !is(1_200, after, "0405") && !is(600, after, ""));
        assert!(is(1_200, after, "69010010") && is(600, after, "6904"));
    }
}
