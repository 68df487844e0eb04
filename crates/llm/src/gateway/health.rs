//! How the targets are, as all calls of this process have found them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use metrics::counter;
use munshi_types::{Clock, Timestamp};

use super::breaker::{BreakerDecision, CircuitBreaker, HealthSignal};
use crate::chat::RateLimits;
use crate::error::ModelError;

const CALLS: &str = "munshi_model_calls_total";

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
        let blocked_until = self.with_breaker(target, |breaker, now| {
            if let Some(wait) = fault.and_then(ModelError::retry_after) {
                breaker.limit_until(now.plus(wait));
            }
            breaker.record_outcome(HealthSignal::of(fault), permission, now);
            breaker.blocked_until(now)
        });
        let outcome = fault.map_or("ok", ModelError::code);
        counter!(CALLS, "model" => target.to_owned(), "outcome" => outcome).increment(1);
        // What a person or the budget ended says nothing about the target.
        let is_told = fault.is_some_and(|fault| fault.blames_target() || fault.retry_after().is_some());
        if is_told {
            let until = blocked_until.map(|until| until.to_string());
            tracing::warn!(model = target, outcome, until, "model call failed");
        }
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
