//! How the targets are, as all calls of this process have found them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_types::{Clock, Timestamp};

use super::breaker::{BreakerDecision, CircuitBreaker, HealthSignal};
use crate::chat::RateLimits;
use crate::error::ModelError;

#[derive(Debug)]
pub(crate) struct TargetBreakers {
    clock: Arc<dyn Clock>,
    breakers: Mutex<HashMap<String, CircuitBreaker>>,
}

impl TargetBreakers {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, breakers: Mutex::default() }
    }

    pub(crate) fn try_acquire(&self, target: &str) -> BreakerDecision {
        self.with_breaker(target, CircuitBreaker::try_acquire)
    }

    /// A call that was let through has ended.
    pub(crate) fn record_outcome(
        &self,
        target: &str,
        permission: BreakerDecision,
        fault: Option<&ModelError>,
    ) {
        self.with_breaker(target, |breaker, now| {
            if let Some(wait) = fault.and_then(ModelError::retry_after) {
                breaker.limit_until(now.plus(wait));
            }
            breaker.record_outcome(HealthSignal::of(fault), permission, now);
        });
    }

    /// The provider says what is left; where nothing is, everybody waits for the next window.
    pub(crate) fn record_rate_limits(&self, target: &str, limits: &RateLimits) {
        if let Some(wait) = limits.time_until_reset() {
            self.with_breaker(target, |breaker, now| breaker.limit_until(now.plus(wait)));
        }
    }

    pub(crate) fn snapshot(&self, target: &str) -> CircuitBreaker {
        self.with_breaker(target, |breaker, _| breaker.clone())
    }

    fn with_breaker<T>(&self, target: &str, act: impl FnOnce(&mut CircuitBreaker, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        if !breakers.contains_key(target) {
            breakers.insert(target.to_owned(), CircuitBreaker::default());
        }
        match breakers.get_mut(target) {
            Some(breaker) => act(breaker, now),
            None => act(&mut CircuitBreaker::default(), now),
        }
    }
}
