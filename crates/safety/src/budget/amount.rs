//! How much: in the four measures that are counted and limited.

use std::fmt;
use std::str::FromStr;

use munshi_llm::gateway::CallSpend;
use munshi_llm::pricing::Cost;
use serde::{Deserialize, Serialize};

use super::price_conversion::PriceConversion;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetMeasure {
    /// A message of a person that is answered, or a job they have delegated: one conversation each.
    Interactions,
    /// Work a person has handed over.
    Jobs,
    Tokens,
    /// Millionths of a dollar.
    Money,
}

impl BudgetMeasure {
    pub const ALL: [Self; 4] = [Self::Interactions, Self::Jobs, Self::Tokens, Self::Money];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interactions => "interactions",
            Self::Jobs => "jobs",
            Self::Tokens => "tokens",
            Self::Money => "money",
        }
    }

    /// `50`, `$0.500000`
    pub fn render(self, amount: i64) -> String {
        match self {
            Self::Money => Cost::from_micros(amount).to_string(),
            _ => amount.to_string(),
        }
    }
}

impl fmt::Display for BudgetMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for BudgetMeasure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|known| known.as_str() == text);
        found.ok_or_else(|| format!("unknown measure `{text}`: use interactions, jobs, tokens or money"))
    }
}

/// What something may use at most, or did use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetAmount {
    pub interactions: u64,
    pub jobs: u64,
    pub tokens: u64,
    /// How many of the tokens were written by a model; only kept for the books.
    pub output: u64,
    /// None where the price is unknown: it then counts as the tokens at the worst price of the settings.
    pub money: Option<Cost>,
}

impl BudgetAmount {
    pub const NOTHING: Self =
        Self { interactions: 0, jobs: 0, tokens: 0, output: 0, money: Some(Cost::ZERO) };

    /// A message that will be answered.
    pub const fn interaction() -> Self {
        Self { interactions: 1, ..Self::NOTHING }
    }

    /// Work that is handed over: one conversation, however many steps it takes. Its steps run in the background lane.
    pub const fn delegated_job() -> Self {
        Self { interactions: 1, jobs: 1, ..Self::NOTHING }
    }

    pub const fn money(cost: Cost) -> Self {
        Self { money: Some(cost), ..Self::NOTHING }
    }

    /// The same with nothing for an answer that was only an excuse: what it cost us is kept, the person is not billed.
    #[must_use]
    pub const fn without_billing(self) -> Self {
        Self { interactions: 0, jobs: 0, ..self }
    }

    pub(crate) fn figures(&self, rates: &PriceConversion) -> BudgetFigures {
        let money = self.money.unwrap_or_else(|| rates.worst_case_cost(self.tokens));
        BudgetFigures([
            clamp_count(self.interactions),
            clamp_count(self.jobs),
            clamp_count(self.tokens),
            clamp_amount(money.as_micros()),
        ])
    }

    pub(crate) fn output_tokens(&self) -> i64 {
        clamp_count(self.output)
    }
}

impl From<CallSpend> for BudgetAmount {
    fn from(spend: CallSpend) -> Self {
        Self { tokens: spend.tokens, output: spend.output, money: spend.cost, ..Self::NOTHING }
    }
}

/// One number for each measure, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BudgetFigures(pub(crate) [i64; 4]);

impl BudgetFigures {
    pub(crate) const fn get(&self, measure: BudgetMeasure) -> i64 {
        self.0[measure as usize]
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// Bounded, so that a server that lies about its counts can't make a sum overflow.
fn clamp_count(count: u64) -> i64 {
    clamp_amount(i64::try_from(count).unwrap_or(i64::MAX))
}

fn clamp_amount(amount: i64) -> i64 {
    amount.clamp(0, 1 << 45)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_price_counts_at_the_worst_one_and_nothing_wraps() {
        let rates =
            PriceConversion { unknown_price: Cost::from_micros(30_000_000), ..PriceConversion::default() };
        let unknown = BudgetAmount { tokens: 10_000, money: None, ..BudgetAmount::NOTHING };
        assert_eq!(unknown.figures(&rates).get(BudgetMeasure::Money), 300_000);
        let absurd = BudgetAmount { tokens: u64::MAX, jobs: u64::MAX, money: None, ..BudgetAmount::NOTHING };
        assert_eq!(absurd.figures(&rates), BudgetFigures([0, 1 << 45, 1 << 45, 1 << 45]));
        let negative = BudgetAmount::money(Cost::from_micros(-5));
        assert_eq!(negative.figures(&rates), BudgetFigures::default(), "nobody is paid for using less");
    }

    #[test]
    fn an_excuse_is_not_billed() {
        let spent =
            BudgetAmount { tokens: 7, money: Some(Cost::from_micros(3)), ..BudgetAmount::delegated_job() };
        let kept = spent.without_billing();
        assert_eq!((kept.interactions, kept.jobs, kept.tokens, kept.money), (0, 0, 7, spent.money));
    }
}
