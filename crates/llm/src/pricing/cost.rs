//! Dollars as providers bill them, in whole millionths: no float is ever added up.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(i64);

impl Cost {
    pub const ZERO: Self = Self(0);

    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Rounded up to the next millionth: a budget is never overrun by rounding.
    #[allow(clippy::cast_possible_truncation, reason = "checked against the range first")]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let micros = (dollars * 1e6).ceil();
        (micros.is_finite() && (0.0..9e15).contains(&micros)).then_some(Self(micros as i64))
    }

    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let micros = self.0.unsigned_abs();
        write!(f, "{sign}${}.{:06}", micros / 1_000_000, micros % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_round_up_and_nonsense_is_unknown() {
        assert_eq!(Cost::from_dollars(0.000_000_1), Some(Cost::from_micros(1)));
        assert_eq!(Cost::from_dollars(1.5).unwrap().to_string(), "$1.500000");
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Cost::from_dollars(bad), None);
        }
    }
}
