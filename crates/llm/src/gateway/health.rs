//! How the targets are, as all calls of this process have found them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_types::{Clock, Timestamp};

use super::breaker::{BreakerDecision, CircuitBreaker, HealthSignal};
use crate::chat::RateLimits;
use crate::fault::ModelError;

#[derive(Debug)]
pub(crate) struct TargetBreakers {
    clock: Arc<dyn Clock>,
    breakers: Mutex<HashMap<String, CircuitBreaker>>,
}

impl TargetBreakers {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, breakers: Mutex::default() }
    }

    pub(crate) fn ask(&self, target: &str) -> BreakerDecision {
        self.with(target, CircuitBreaker::ask)
    }

    /// A call that was let through has ended.
    pub(crate) fn report(&self, target: &str, permission: BreakerDecision, fault: Option<&ModelError>) {
        self.with(target, |breaker, now| {
            if let Some(wait) = fault.and_then(ModelError::retry_after) {
                breaker.limited(now.plus(wait));
            }
            breaker.report(HealthSignal::of(fault), permission, now);
        });
    }

    /// The provider says what is left; where nothing is, everybody waits for the next window.
    pub(crate) fn told(&self, target: &str, limits: &RateLimits) {
        if let Some(wait) = limits.wait() {
            self.with(target, |breaker, now| breaker.limited(now.plus(wait)));
        }
    }

    pub(crate) fn of(&self, target: &str) -> CircuitBreaker {
        self.with(target, |breaker, _| breaker.clone())
    }

    fn with<T>(&self, target: &str, act: impl FnOnce(&mut CircuitBreaker, Timestamp) -> T) -> T {
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
