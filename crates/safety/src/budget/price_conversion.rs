//! How different prices become one money: millionths of a dollar.

use munshi_llm::pricing::Cost;
use munshi_types::Money;

/// Fixed by the settings and not looked up: a ceiling that moves by itself is no ceiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceConversion {
    /// For a million tokens of a model whose price nobody knows.
    pub unknown_price: Cost,
    /// Paise for a dollar. Fewer make a rupee count for more.
    pub paise_per_dollar: u32,
    /// When somebody last looked it up; for people.
    pub as_of: Option<String>,
}

impl Default for PriceConversion {
    fn default() -> Self {
        Self { unknown_price: Cost::from_micros(30_000_000), paise_per_dollar: 8_500, as_of: None }
    }
}

impl PriceConversion {
    /// What so many tokens cost at most, rounded up.
    pub fn worst_case_cost(&self, tokens: u64) -> Cost {
        let millionths = u128::from(tokens) * u128::from(self.unknown_price.as_micros().unsigned_abs());
        Cost::from_micros(i64::try_from(millionths.div_ceil(1_000_000)).unwrap_or(i64::MAX))
    }

    /// What a tool says it costs, rounded up. Less than nothing counts as nothing.
    pub fn to_dollars(&self, money: Money) -> Cost {
        let paise = u128::try_from(money.as_paise()).unwrap_or(0);
        let micros = (paise * 1_000_000).div_ceil(u128::from(self.paise_per_dollar.max(1)));
        Cost::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rupee_becomes_dollars_rounded_up() {
        let rates = PriceConversion::default();
        assert_eq!(rates.to_dollars(Money::from_paise(8_500)), Cost::from_micros(1_000_000));
        assert_eq!(rates.to_dollars(Money::from_paise(1)), Cost::from_micros(118));
        assert_eq!(rates.to_dollars(Money::from_paise(-1)), Cost::ZERO);
        assert_eq!(rates.to_dollars(Money::from_paise(i64::MAX)).as_micros(), i64::MAX);
        let broken = PriceConversion { paise_per_dollar: 0, ..rates };
        assert!(broken.to_dollars(Money::from_paise(1)) > Cost::ZERO, "no division by nothing");
    }

    proptest! {
        #[test]
        fn more_never_costs_less(a in 0..1_000_000_000_i64, b in 0..1_000_000_000_i64) {
            let rates = PriceConversion::default();
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(rates.to_dollars(Money::from_paise(low)) <= rates.to_dollars(Money::from_paise(high)));
            prop_assert!(rates.worst_case_cost(low.unsigned_abs()) <= rates.worst_case_cost(high.unsigned_abs()));
        }
    }
}
