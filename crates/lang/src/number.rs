//! An exact number: what was said, to the eighth decimal.

use std::fmt;

use munshi_types::Money;
use serde::{Serialize, Serializer};

/// A number in hundred-millionths, so that 1.2345678 crore is still exact. No float touches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(i128);

const ONE: i128 = 100_000_000;

const PAISA: i128 = ONE / 100;

impl Number {
    pub const ZERO: Self = Self(0);
    /// The decimals it keeps.
    pub const DECIMALS: usize = 8;

    pub fn from_whole(whole: u64) -> Self {
        Self(i128::from(whole) * ONE)
    }

    pub fn from_hundredths(hundredths: u32) -> Self {
        Self(i128::from(hundredths) * PAISA)
    }

    /// Reads ASCII digits and at most one point; none past eight decimals or thirty digits.
    pub fn from_decimal(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty()
            || whole.len() > 30
            || rest.len() > Self::DECIMALS
            || !plain(whole)
            || !plain(rest)
        {
            return None;
        }
        let whole: i128 = whole.parse().ok()?;
        let decimals: i128 = format!("{rest:0<width$}", width = Self::DECIMALS).parse().ok()?;
        whole.checked_mul(ONE)?.checked_add(decimals).map(Self)
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    pub fn checked_mul(self, factor: u64) -> Option<Self> {
        self.0.checked_mul(i128::from(factor)).map(Self)
    }

    /// A hundredth of it: paise as rupees.
    pub fn hundredth(self) -> Option<Self> {
        (self.0 % 100 == 0).then_some(Self(self.0 / 100))
    }

    pub fn negative(self) -> Self {
        Self(-self.0)
    }

    /// The whole number it is; none when it has a fraction or is out of range.
    pub fn as_whole(self) -> Option<u64> {
        (self.0 % ONE == 0).then(|| u64::try_from(self.0 / ONE).ok()).flatten()
    }

    /// As rupees; none when it is finer than a paisa or too large to keep.
    pub fn as_money(self) -> Option<Money> {
        (self.0 % PAISA == 0).then(|| i64::try_from(self.0 / PAISA).ok().map(Money::from_paise)).flatten()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let size = self.0.unsigned_abs();
        let (whole, rest) = (size / ONE.unsigned_abs(), size % ONE.unsigned_abs());
        if rest == 0 {
            return write!(f, "{sign}{whole}");
        }
        let decimals = format!("{rest:0width$}", width = Self::DECIMALS);
        write!(f, "{sign}{whole}.{}", decimals.trim_end_matches('0'))
    }
}

/// A JSON number: whole where it is whole.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % ONE == 0 {
            return match i64::try_from(self.0 / ONE) {
                Ok(whole) => serializer.serialize_i64(whole),
                Err(_) => serializer.serialize_i128(self.0 / ONE),
            };
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "JSON has no other fraction; sums are made on the number itself"
        )]
        serializer.serialize_f64(self.0 as f64 / ONE as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_holds() {
        assert_eq!(Number::from_decimal("1250.50").unwrap().to_string(), "1250.5");
        assert_eq!(Number::from_hundredths(250).checked_mul(1000).unwrap(), Number::from_whole(2500));
        assert_eq!(serde_json::to_string(&Number::from_hundredths(50)).unwrap(), "0.5");
        assert_eq!(serde_json::to_string(&Number::from_whole(2500)).unwrap(), "2500");
        assert_eq!(
            Number::from_decimal("1.2345678").unwrap().checked_mul(10_000_000).unwrap().to_string(),
            "12345678"
        );
        assert_eq!(Number::from_decimal("1.5").unwrap().negative().to_string(), "-1.5");
        assert_eq!(Number::from_decimal("0.005").unwrap().as_money(), None);
        assert_eq!(Number::from_hundredths(1).as_money(), Some(Money::from_paise(1)));
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in ["", ".", ".5", "1.234567891", "1e3", "-1", "1.2.3", "9999999999999999999999999999999"] {
            assert_eq!(Number::from_decimal(text), None, "{text}");
        }
    }
}
