//! How the targets are, as all calls of this process have found them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_types::{Clock, Timestamp};

use super::breaker::{Breaker, Finding, Permission};
use crate::chat::RateLimits;
use crate::fault::Fault;

#[derive(Debug)]
pub(crate) struct Health {
    clock: Arc<dyn Clock>,
    breakers: Mutex<HashMap<String, Breaker>>,
}

impl Health {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, breakers: Mutex::default() }
    }

    pub(crate) fn ask(&self, target: &str) -> Permission {
        self.with(target, Breaker::ask)
    }

    /// A call that was let through has ended.
    pub(crate) fn report(&self, target: &str, permission: Permission, fault: Option<&Fault>) {
        self.with(target, |breaker, now| {
            if let Some(wait) = fault.and_then(Fault::retry_after) {
                breaker.limited(now.plus(wait));
            }
            breaker.report(Finding::of(fault), permission, now);
        });
    }

    /// The provider says what is left; where nothing is, everybody waits for the next window.
    pub(crate) fn told(&self, target: &str, limits: &RateLimits) {
        if let Some(wait) = limits.wait() {
            self.with(target, |breaker, now| breaker.limited(now.plus(wait)));
        }
    }

    pub(crate) fn of(&self, target: &str) -> Breaker {
        self.with(target, |breaker, _| breaker.clone())
    }

    fn with<T>(&self, target: &str, act: impl FnOnce(&mut Breaker, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        if !breakers.contains_key(target) {
            breakers.insert(target.to_owned(), Breaker::default());
        }
        match breakers.get_mut(target) {
            Some(breaker) => act(breaker, now),
            None => act(&mut Breaker::default(), now),
        }
    }
}
