//! An amount that was paid, and the taxes in it.

use munshi_types::Money;
use serde::{Deserialize, Serialize};

use super::rate::TaxRate;
use crate::error::{Error, Result};

/// Whether goods stay in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GstSupplyType {
    /// Half to the union (CGST), half to the state (SGST).
    Within,
    /// One tax for both (IGST).
    Across,
}

/// The parts add up to what was paid, to the paisa.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaxBreakdown {
    pub taxable: Money,
    pub cgst: Money,
    pub sgst: Money,
    pub igst: Money,
}

impl TaxBreakdown {
    /// What of an amount is tax. Each part is rounded to the paisa, half up; the two halves are always the same.
    pub fn compute(paid: Money, rate: TaxRate, way: GstSupplyType) -> Result<Self> {
        if paid.is_negative() {
            return Err(Error::invalid("a bill is of an amount above zero"));
        }
        let (cgst, igst) = match way {
            GstSupplyType::Within => (part(paid, rate, 2)?, Money::ZERO),
            GstSupplyType::Across => (Money::ZERO, part(paid, rate, 1)?),
        };
        let taxable = paid.minus(cgst)?.minus(cgst)?.minus(igst)?;
        Ok(Self { taxable, cgst, sgst: cgst, igst })
    }

    pub fn plus(self, other: Self) -> Result<Self> {
        Ok(Self {
            taxable: self.taxable.plus(other.taxable)?,
            cgst: self.cgst.plus(other.cgst)?,
            sgst: self.sgst.plus(other.sgst)?,
            igst: self.igst.plus(other.igst)?,
        })
    }

    pub fn tax(self) -> Result<Money> {
        Ok(self.cgst.plus(self.sgst)?.plus(self.igst)?)
    }
}

/// The tax in an amount, over so many parts.
fn part(paid: Money, rate: TaxRate, parts: i128) -> Result<Money> {
    let (paid, rate) = (i128::from(paid.as_paise()), i128::from(rate.as_hundredths()));
    let below = (10_000 + rate) * parts;
    let rounded = (paid * rate * 2 + below) / (below * 2);
    let paise = i64::try_from(rounded).map_err(|_| Error::invalid("the amount is too large for a bill"))?;
    Ok(Money::from_paise(paise))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_tax_is_taken_out_of_what_was_paid() {
        let paid = Money::from_paise(10_500);
        let five = TaxRate::from_hundredths(500);
        let within = TaxBreakdown::compute(paid, five, GstSupplyType::Within).unwrap();
        let rupees = Money::from_paise;
        assert_eq!((within.taxable, within.cgst, within.sgst), (rupees(10_000), rupees(250), rupees(250)));
        let across = TaxBreakdown::compute(paid, five, GstSupplyType::Across).unwrap();
        assert_eq!((across.taxable, across.igst, across.cgst), (rupees(10_000), rupees(500), Money::ZERO));
        let none = TaxBreakdown::compute(paid, TaxRate::ZERO, GstSupplyType::Within).unwrap();
        assert_eq!((none.taxable, none.tax().unwrap()), (paid, Money::ZERO));
    }

    proptest! {
        #[test]
        fn parts_add_up_and_are_near_the_rate(paise in 0..1_000_000_000_000_i64, rate in 0..=4_000_i64, across: bool) {
            let way = if across { GstSupplyType::Across } else { GstSupplyType::Within };
            let (paid, rate) = (Money::from_paise(paise), TaxRate::from_hundredths(rate));
            let taxed = TaxBreakdown::compute(paid, rate, way).unwrap();
            prop_assert_eq!(taxed.taxable.plus(taxed.tax().unwrap()).unwrap(), paid);
            prop_assert_eq!(taxed.cgst, taxed.sgst);
            prop_assert!(!taxed.taxable.is_negative() && !taxed.tax().unwrap().is_negative());
            // Within a paisa of the rate, for each part.
            let exact = i128::from(taxed.taxable.as_paise()) * i128::from(rate.as_hundredths());
            let off = i128::from(taxed.tax().unwrap().as_paise()) * 10_000 - exact;
            prop_assert!(off.abs() <= 2 * 14_000, "{} of {:?}", off, taxed);
        }
    }
}
