//! Quantities in whole thousandths, and units that can be told in each other.

use std::fmt;
use std::str::FromStr;

use munshi_store::{Column, FromColumn, Param, ToParam};
use serde::Serialize;

use crate::error::Error;

/// So many thousandths of a unit: 2.5 kg is 2500.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Quantity(i64);

impl Quantity {
    pub const ZERO: Self = Self(0);
    /// More than any shop has, and small enough that no sum wraps.
    pub const LARGEST: Self = Self(1_000_000_000_000);

    pub const fn from_thousandths(thousandths: i64) -> Self {
        Self(thousandths)
    }

    pub const fn as_thousandths(self) -> i64 {
        self.0
    }

    pub(crate) const fn negated(self) -> Self {
        Self(-self.0)
    }

    /// The same amount in another unit; none when they can't be told in each other or a part would be lost.
    pub fn in_unit(self, from: &str, to: &str) -> Option<Self> {
        if from == to {
            return Some(self);
        }
        let ((from_kind, from_size), (to_kind, to_size)) = (size(from)?, size(to)?);
        let total = i128::from(self.0) * i128::from(from_size);
        let fits = from_kind == to_kind && total % i128::from(to_size) == 0;
        fits.then(|| i64::try_from(total / i128::from(to_size)).ok().map(Self)).flatten()
    }
}

/// What a unit measures, and how many of the smallest such unit it is.
const fn size(unit: &str) -> Option<(u8, i64)> {
    Some(match unit.as_bytes() {
        b"g" => (1, 1),
        b"kg" => (1, 1_000),
        b"quintal" => (1, 100_000),
        b"tonne" => (1, 1_000_000),
        b"ml" => (2, 1),
        b"l" => (2, 1_000),
        b"piece" => (3, 1),
        b"pair" => (3, 2),
        b"dozen" => (3, 12),
        _ => return None,
    })
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, part) = (self.0.unsigned_abs() / 1000, self.0.unsigned_abs() % 1000);
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        write!(f, "{sign}{whole}.{}", format!("{part:03}").trim_end_matches('0'))
    }
}

impl FromStr for Quantity {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bad = || {
            Error::invalid(format!(
                "`{text}` is no quantity: write a number like 3 or 2.5, at most three decimals"
            ))
        };
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !plain(whole) || !plain(part) || part.len() > 3 || whole.len() > 10 {
            return Err(bad());
        }
        let whole: i64 = whole.parse().map_err(|_| bad())?;
        let part: i64 = format!("{part:0<3}").parse().map_err(|_| bad())?;
        let total = whole * 1000 + part;
        Ok(Self(if negative { -total } else { total }))
    }
}

impl ToParam for Quantity {
    fn to_param(&self) -> Param<'_> {
        Param::Integer(self.0)
    }
}

impl FromColumn for Quantity {
    fn from_column(column: Column<'_>) -> munshi_store::Result<Self> {
        i64::from_column(column).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_of_one_measure_are_told_in_each_other() {
        let quantity = |text: &str| text.parse::<Quantity>().unwrap();
        assert_eq!(quantity("500").in_unit("g", "kg"), Some(quantity("0.5")));
        assert_eq!(quantity("2").in_unit("dozen", "piece"), Some(quantity("24")));
        assert_eq!(quantity("1").in_unit("piece", "dozen"), None, "a twelfth has no end in thousandths");
        assert_eq!(quantity("1").in_unit("kg", "l"), None);
        assert_eq!(quantity("3").in_unit("bag", "bag"), Some(quantity("3")));
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for bad in ["", "-", ".5", "1.", "1.2345", "1,5", "half", "99999999999"] {
            assert!(bad.parse::<Quantity>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(thousandths in -9_999_999_999_999i64..9_999_999_999_999) {
            let quantity = Quantity::from_thousandths(thousandths);
            prop_assert_eq!(quantity.to_string().parse::<Quantity>().unwrap(), quantity);
        }
    }
}
