//! Asking before spending. Every attempt reserves what it may cost at most, and settles what it did cost.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use munshi_types::ReservationId;
use uuid::Uuid;

use crate::error::ModelError;
use crate::pricing::Cost;

/// What an attempt may use at most, or did use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSpend {
    pub tokens: u64,
    /// How many of the tokens were written by the model, for those who keep books.
    pub output: u64,
    /// None where the price is unknown. A durable budget counts it at a worst price then, one in memory by its tokens.
    pub cost: Option<Cost>,
}

/// Who decides whether a call may be made. The durable one lives with the safety pipeline.
#[async_trait]
pub trait CallBudget: Send + Sync {
    /// Sets the spend aside, or refuses with [`ModelError::OverBudget`] saying which limit.
    async fn reserve(&self, most: CallSpend) -> Result<ReservationId, ModelError>;

    /// Replaces what was set aside by what was spent. Done again, it changes nothing.
    async fn settle(&self, reservation: ReservationId, spent: CallSpend);
}

/// No limit: for a person at the command line who pays for what they type.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlimitedBudget;

#[async_trait]
impl CallBudget for UnlimitedBudget {
    async fn reserve(&self, _most: CallSpend) -> Result<ReservationId, ModelError> {
        Ok(ReservationId::from_uuid(Uuid::nil()))
    }

    async fn settle(&self, _reservation: ReservationId, _spent: CallSpend) {}
}

/// A budget of one run, in memory.
#[derive(Debug, Default)]
pub struct InMemoryBudget {
    limit: CallSpend,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    spent: CallSpend,
    reservations: HashMap<ReservationId, CallSpend>,
    next: u128,
}

impl InMemoryBudget {
    /// A limit without a cost bounds tokens only.
    pub fn new(limit: CallSpend) -> Self {
        Self { limit, state: Mutex::default() }
    }

    pub fn spent(&self) -> CallSpend {
        self.lock().spent
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sum(a: CallSpend, b: CallSpend) -> CallSpend {
    let cost = match (a.cost, b.cost) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (one, other) => one.or(other),
    };
    let (tokens, output) = (a.tokens.saturating_add(b.tokens), a.output.saturating_add(b.output));
    CallSpend { tokens, output, cost }
}

#[async_trait]
impl CallBudget for InMemoryBudget {
    async fn reserve(&self, most: CallSpend) -> Result<ReservationId, ModelError> {
        let mut state = self.lock();
        let taken = state.reservations.values().fold(state.spent, |total, reserved| sum(total, *reserved));
        let after = sum(taken, most);
        if after.tokens > self.limit.tokens {
            return Err(ModelError::OverBudget(format!(
                "{} of {} tokens are used or reserved",
                taken.tokens, self.limit.tokens
            )));
        }
        if let (Some(limit), Some(cost)) = (self.limit.cost, after.cost)
            && cost > limit
        {
            return Err(ModelError::OverBudget(format!(
                "{} of {limit} is used or reserved",
                taken.cost.unwrap_or_default()
            )));
        }
        state.next += 1;
        let id = ReservationId::from_uuid(Uuid::from_u128(state.next));
        state.reservations.insert(id, most);
        Ok(id)
    }

    async fn settle(&self, reservation: ReservationId, spent: CallSpend) {
        let mut state = self.lock();
        if state.reservations.remove(&reservation).is_some() {
            state.spent = sum(state.spent, spent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spend(tokens: u64, micros: i64) -> CallSpend {
        CallSpend { tokens, output: 0, cost: Some(Cost::from_micros(micros)) }
    }

    #[tokio::test]
    async fn what_is_set_aside_counts_until_it_is_settled() {
        let budget = InMemoryBudget::new(spend(100, 1_000));
        let first = budget.reserve(spend(60, 10)).await.unwrap();
        assert!(matches!(budget.reserve(spend(60, 10)).await, Err(ModelError::OverBudget(_))));
        budget.settle(first, spend(20, 5)).await;
        budget.settle(first, spend(20, 5)).await;
        assert_eq!(budget.spent(), spend(20, 5), "settling twice counts once");
        let second = budget.reserve(spend(80, 995)).await.unwrap();
        assert!(budget.reserve(spend(0, 1)).await.is_err());
        budget.settle(second, CallSpend::default()).await;
        assert_eq!(budget.spent().tokens, 20);
    }
}
