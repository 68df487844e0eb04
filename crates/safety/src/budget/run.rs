//! What one run may use: checked at every transition, on values the run carries with it.

use std::fmt;
use std::time::Duration;

use munshi_llm::pricing::Cost;
use serde::{Deserialize, Serialize};

/// A run that reaches any of these stops and says so; it never quietly does worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunBudget {
    pub tokens: u64,
    pub money: Cost,
    pub iterations: u32,
    pub seconds: u64,
}

impl Default for RunBudget {
    fn default() -> Self {
        Self { tokens: 50_000, money: Cost::from_micros(500_000), iterations: 20, seconds: 600 }
    }
}

/// What a run has used so far; a part of its snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunUse {
    pub tokens: u64,
    pub money: Cost,
    pub iterations: u32,
    pub seconds: u64,
}

impl RunUse {
    /// After a call that used so much.
    #[must_use]
    pub fn with_call(self, tokens: u64, money: Cost) -> Self {
        Self { tokens: self.tokens.saturating_add(tokens), money: self.money.plus(money), ..self }
    }

    /// After another turn of the loop.
    #[must_use]
    pub fn with_iteration(self) -> Self {
        Self { iterations: self.iterations.saturating_add(1), ..self }
    }

    #[must_use]
    pub fn with_elapsed(self, elapsed: Duration) -> Self {
        Self { seconds: elapsed.as_secs(), ..self }
    }
}

/// What a run ran out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "limit", rename_all = "snake_case")]
pub enum RunExhaustion {
    Tokens { used: u64, of: u64 },
    Money { used: Cost, of: Cost },
    Iterations { used: u32, of: u32 },
    Seconds { used: u64, of: u64 },
}

impl fmt::Display for RunExhaustion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens { used, of } => write!(f, "this run has used {used} of {of} tokens"),
            Self::Money { used, of } => write!(f, "this run has spent {used} of {of}"),
            Self::Iterations { used, of } => write!(f, "this run has taken {used} of {of} steps"),
            Self::Seconds { used, of } => write!(f, "this run has taken {used} of {of} seconds"),
        }
    }
}

impl std::error::Error for RunExhaustion {}

impl RunBudget {
    /// Of work that nobody waits for: it may take as long as it likes.
    pub const BACKGROUND: Self = Self {
        tokens: 200_000,
        money: Cost::from_micros(1_000_000),
        iterations: u32::MAX,
        seconds: u64::MAX,
    };

    /// What each of so many gets of what is left, in equal shares of tokens and money.
    #[must_use]
    pub fn share(&self, used: &RunUse, among: usize) -> Self {
        let among = u64::try_from(among.max(1)).unwrap_or(u64::MAX);
        let money = self.money.minus(used.money).as_micros().max(0);
        let money = Cost::from_micros(money / i64::try_from(among).unwrap_or(i64::MAX));
        Self { tokens: self.tokens.saturating_sub(used.tokens) / among, money, ..*self }
    }

    /// Whether the run may go on. What is reached is spent: nothing is left to go on with.
    pub fn check(&self, used: &RunUse) -> Result<(), RunExhaustion> {
        if used.tokens >= self.tokens {
            return Err(RunExhaustion::Tokens { used: used.tokens, of: self.tokens });
        }
        if used.money >= self.money {
            return Err(RunExhaustion::Money { used: used.money, of: self.money });
        }
        if used.iterations >= self.iterations {
            return Err(RunExhaustion::Iterations { used: used.iterations, of: self.iterations });
        }
        if used.seconds >= self.seconds {
            return Err(RunExhaustion::Seconds { used: used.seconds, of: self.seconds });
        }
        Ok(())
    }

    /// Whether the run may begin something that uses so much at most.
    pub fn check_next(&self, used: &RunUse, tokens: u64, money: Cost) -> Result<(), RunExhaustion> {
        self.check(used)?;
        let next = used.with_call(tokens, money);
        if next.tokens > self.tokens {
            return Err(RunExhaustion::Tokens { used: used.tokens, of: self.tokens });
        }
        if next.money > self.money {
            return Err(RunExhaustion::Money { used: used.money, of: self.money });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_limit_stops_a_run_and_says_which() {
        let budget = RunBudget::default();
        assert_eq!(budget.check(&RunUse::default()), Ok(()));
        let stopped = |used: RunUse| budget.check(&used).unwrap_err().to_string();
        let used = RunUse::default();
        assert_eq!(stopped(RunUse { tokens: 50_000, ..used }), "this run has used 50000 of 50000 tokens");
        let money = Cost::from_micros(600_000);
        assert_eq!(stopped(RunUse { money, ..used }), "this run has spent $0.600000 of $0.500000");
        assert_eq!(stopped(RunUse { iterations: 20, ..used }), "this run has taken 20 of 20 steps");
        assert_eq!(
            stopped(used.with_elapsed(Duration::from_secs(600))),
            "this run has taken 600 of 600 seconds"
        );
    }

    #[test]
    fn what_is_left_is_shared_equally() {
        let budget = RunBudget { tokens: 1_000, money: Cost::from_micros(90), ..RunBudget::BACKGROUND };
        let used = RunUse::default().with_call(100, Cost::from_micros(30));
        let share = budget.share(&used, 3);
        assert_eq!((share.tokens, share.money), (300, Cost::from_micros(20)));
        let nothing = budget.share(&used.with_call(5_000, Cost::from_micros(500)), 2);
        assert_eq!((nothing.tokens, nothing.money), (0, Cost::ZERO), "what is overdrawn leaves nothing");
    }

    proptest! {
        #[test]
        fn a_run_that_asks_before_each_call_never_goes_over(calls in prop::collection::vec((0..9_000_u64, 0..90_000_i64), 1..60)) {
            let budget = RunBudget::default();
            let mut used = RunUse::default();
            for (tokens, micros) in calls {
                let money = Cost::from_micros(micros);
                if budget.check_next(&used, tokens, money).is_ok() {
                    used = used.with_call(tokens, money).with_iteration();
                }
                prop_assert!(used.tokens <= budget.tokens && used.money <= budget.money);
                prop_assert!(used.iterations <= budget.iterations);
            }
        }
    }
}
