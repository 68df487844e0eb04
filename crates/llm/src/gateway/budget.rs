//! Asking before spending. Every attempt reserves what it may cost at most, and settles what it did cost.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use munshi_types::ReservationId;
use uuid::Uuid;

use crate::fault::Fault;
use crate::money::Cost;

/// What an attempt may use at most, or did use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    pub tokens: u64,
    /// How many of the tokens were written by the model, for those who keep books.
    pub output: u64,
    /// None where the price is unknown. A durable budget counts it at a worst price then, one in memory by its tokens.
    pub cost: Option<Cost>,
}

/// Who decides whether a call may be made. The durable one lives with the safety pipeline.
#[async_trait]
pub trait Budget: Send + Sync {
    /// Sets the spend aside, or refuses with [`Fault::OverBudget`] saying which limit.
    async fn reserve(&self, most: Spend) -> Result<ReservationId, Fault>;

    /// Replaces what was set aside by what was spent. Done again, it changes nothing.
    async fn settle(&self, reservation: ReservationId, spent: Spend);
}

/// No limit: for a person at the command line who pays for what they type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlimited;

#[async_trait]
impl Budget for Unlimited {
    async fn reserve(&self, _most: Spend) -> Result<ReservationId, Fault> {
        Ok(ReservationId::from_uuid(Uuid::nil()))
    }

    async fn settle(&self, _reservation: ReservationId, _spent: Spend) {}
}

/// A budget of one run, in memory.
#[derive(Debug, Default)]
pub struct MemoryBudget {
    limit: Spend,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    spent: Spend,
    held: HashMap<ReservationId, Spend>,
    next: u128,
}

impl MemoryBudget {
    /// A limit without a cost bounds tokens only.
    pub fn new(limit: Spend) -> Self {
        Self { limit, state: Mutex::default() }
    }

    pub fn spent(&self) -> Spend {
        self.lock().spent
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sum(a: Spend, b: Spend) -> Spend {
    let cost = match (a.cost, b.cost) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (one, other) => one.or(other),
    };
    let (tokens, output) = (a.tokens.saturating_add(b.tokens), a.output.saturating_add(b.output));
    Spend { tokens, output, cost }
}

#[async_trait]
impl Budget for MemoryBudget {
    async fn reserve(&self, most: Spend) -> Result<ReservationId, Fault> {
        let mut state = self.lock();
        let taken = state.held.values().fold(state.spent, |total, held| sum(total, *held));
        let after = sum(taken, most);
        if after.tokens > self.limit.tokens {
            return Err(Fault::OverBudget(format!(
                "{} of {} tokens are spoken for",
                taken.tokens, self.limit.tokens
            )));
        }
        if let (Some(limit), Some(cost)) = (self.limit.cost, after.cost)
            && cost > limit
        {
            return Err(Fault::OverBudget(format!(
                "{} of {limit} are spoken for",
                taken.cost.unwrap_or_default()
            )));
        }
        state.next += 1;
        let id = ReservationId::from_uuid(Uuid::from_u128(state.next));
        state.held.insert(id, most);
        Ok(id)
    }

    async fn settle(&self, reservation: ReservationId, spent: Spend) {
        let mut state = self.lock();
        if state.held.remove(&reservation).is_some() {
            state.spent = sum(state.spent, spent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spend(tokens: u64, micros: i64) -> Spend {
        Spend { tokens, output: 0, cost: Some(Cost::from_micros(micros)) }
    }

    #[tokio::test]
    async fn what_is_set_aside_counts_until_it_is_settled() {
        let budget = MemoryBudget::new(spend(100, 1_000));
        let first = budget.reserve(spend(60, 10)).await.unwrap();
        assert!(matches!(budget.reserve(spend(60, 10)).await, Err(Fault::OverBudget(_))));
        budget.settle(first, spend(20, 5)).await;
        budget.settle(first, spend(20, 5)).await;
        assert_eq!(budget.spent(), spend(20, 5), "settling twice counts once");
        let second = budget.reserve(spend(80, 995)).await.unwrap();
        assert!(budget.reserve(spend(0, 1)).await.is_err());
        budget.settle(second, Spend::default()).await;
        assert_eq!(budget.spent().tokens, 20);
    }
}
