//! Money in whole paise. No float touches it, and no sum wraps.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An amount of rupees in whole paise; negative for what is owed the other way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(i64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("the amount is too large")]
    Overflow,
    #[error("`{0}` is not an amount: write rupees with at most two decimals, such as 1500 or 1500.50")]
    Unreadable(String),
}

impl Money {
    pub const ZERO: Self = Self(0);

    pub const fn from_paise(paise: i64) -> Self {
        Self(paise)
    }

    pub fn from_rupees(rupees: i64) -> Result<Self, MoneyError> {
        rupees.checked_mul(100).map(Self).ok_or(MoneyError::Overflow)
    }

    pub const fn as_paise(self) -> i64 {
        self.0
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub fn plus(self, other: Self) -> Result<Self, MoneyError> {
        self.0.checked_add(other.0).map(Self).ok_or(MoneyError::Overflow)
    }

    pub fn minus(self, other: Self) -> Result<Self, MoneyError> {
        self.0.checked_sub(other.0).map(Self).ok_or(MoneyError::Overflow)
    }

    pub fn times(self, count: i64) -> Result<Self, MoneyError> {
        self.0.checked_mul(count).map(Self).ok_or(MoneyError::Overflow)
    }

    pub fn negated(self) -> Result<Self, MoneyError> {
        self.0.checked_neg().map(Self).ok_or(MoneyError::Overflow)
    }

    pub fn sum(amounts: impl IntoIterator<Item = Self>) -> Result<Self, MoneyError> {
        amounts.into_iter().try_fold(Self::ZERO, Self::plus)
    }

    /// A share in hundredths of a percent (18% is 1800), rounded half away from zero as tax law does.
    pub fn share(self, basis_points: u32) -> Result<Self, MoneyError> {
        let product = i128::from(self.0) * i128::from(basis_points);
        let rounded = (product.abs() + 5_000) / 10_000 * product.signum();
        i64::try_from(rounded).map(Self).map_err(|_| MoneyError::Overflow)
    }

    /// `parts` amounts that differ by at most a paisa and add up to this one; none when `parts` is 0.
    pub fn split(self, parts: u32) -> Vec<Self> {
        let parts = i64::from(parts);
        if parts == 0 {
            return Vec::new();
        }
        let (each, rest) = (self.0 / parts, self.0 % parts);
        (0..parts).map(|n| Self(each + if n < rest.abs() { rest.signum() } else { 0 })).collect()
    }
}

/// Plain digits with two decimals; people are shown `lang`'s form with the sign and Indian grouping.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let paise = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", paise / 100, paise % 100)
    }
}

impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unreadable = || MoneyError::Unreadable(text.to_owned());
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (rupees, paise) = digits.split_once('.').unwrap_or((digits, "0"));
        let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !plain(rupees) || !plain(paise) || paise.len() > 2 {
            return Err(unreadable());
        }
        let scale = if paise.len() == 1 { 10 } else { 1 };
        let rupees: i128 = rupees.parse().map_err(|_| MoneyError::Overflow)?;
        let paise: i128 = paise.parse().map_err(|_| unreadable())?;
        let amount = rupees.checked_mul(100).ok_or(MoneyError::Overflow)? + paise * scale;
        let signed = if negative { -amount } else { amount };
        i64::try_from(signed).map(Self).map_err(|_| MoneyError::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_and_refuses() {
        for (text, paise) in [("1500", 150_000), ("1500.5", 150_050), ("-0.05", -5), ("0.00", 0)] {
            assert_eq!(text.parse::<Money>().unwrap().as_paise(), paise, "{text}");
        }
        for bad in ["", "-", "1.", ".5", "1.234", "1,500", "1e3", "+5", "१५", "--1"] {
            assert!(matches!(bad.parse::<Money>(), Err(MoneyError::Unreadable(_))), "{bad}");
        }
        assert_eq!("-92233720368547758.08".parse::<Money>().unwrap().as_paise(), i64::MIN);
        assert_eq!("92233720368547759".parse::<Money>(), Err(MoneyError::Overflow));
    }

    #[test]
    fn shares_round_half_away_from_zero() {
        assert_eq!(Money::from_paise(25).share(1000).unwrap(), Money::from_paise(3));
        assert_eq!(Money::from_paise(-25).share(1000).unwrap(), Money::from_paise(-3));
        assert_eq!(Money::from_paise(10_000).share(1800).unwrap(), Money::from_paise(1800));
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(paise: i64) {
            let amount = Money::from_paise(paise);
            prop_assert_eq!(amount.to_string().parse::<Money>().unwrap(), amount);
        }

        #[test]
        fn parts_add_up_and_differ_by_a_paisa(paise: i64, parts in 1u32..500) {
            let amount = Money::from_paise(paise);
            let split = amount.split(parts);
            prop_assert_eq!(Money::sum(split.iter().copied()).unwrap(), amount);
            let (low, high) = (split.iter().min().unwrap().as_paise(), split.iter().max().unwrap().as_paise());
            prop_assert!(i128::from(high) - i128::from(low) <= 1);
        }

        #[test]
        fn sums_never_wrap(a: i64, b: i64) {
            match Money::from_paise(a).plus(Money::from_paise(b)) {
                Ok(sum) => prop_assert_eq!(i128::from(sum.as_paise()), i128::from(a) + i128::from(b)),
                Err(error) => prop_assert_eq!(error, MoneyError::Overflow),
            }
        }
    }
}
