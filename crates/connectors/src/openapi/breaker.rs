//! Leaving a service alone that keeps failing: so many failures in a row, and calls are refused for a while; then one finds
//! out whether it is well again.

use std::time::Duration;

use tokio::time::Instant;

const FAILURES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct ServiceCircuitBreaker {
    failures: u32,
    open_until: Option<Instant>,
    /// Somebody finds out at this moment; one that never reports back is forgotten with the pause.
    on_trial: bool,
}

impl ServiceCircuitBreaker {
    /// For how long nothing is to be asked; none where a call may go.
    pub(super) fn check(&mut self, now: Instant) -> Option<Duration> {
        let until = self.open_until?;
        if now < until {
            return Some(until - now);
        }
        if self.on_trial {
            self.open_until = Some(now + PAUSE);
            self.on_trial = false;
            return Some(PAUSE);
        }
        self.on_trial = true;
        self.open_until = Some(now);
        None
    }

    pub(super) fn record_success(&mut self) {
        *self = Self::default();
    }

    pub(super) fn record_failure(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES {
            self.open_until = Some(now + PAUSE);
            self.on_trial = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_keeps_failing_is_left_alone_for_a_while() {
        let (mut breaker, start) = (ServiceCircuitBreaker::default(), Instant::now());
        for _ in 0..FAILURES {
            assert_eq!(breaker.check(start), None);
            breaker.record_failure(start);
        }
        assert_eq!(breaker.check(start), Some(PAUSE));
        let later = start + PAUSE;
        assert_eq!(breaker.check(later), None, "one finds out");
        assert!(breaker.check(later).is_some(), "the others wait");
        breaker.record_success();
        assert_eq!(breaker.check(later), None);
        breaker.record_failure(later);
        assert_eq!(breaker.check(later), None, "one failure is no illness");
    }
}
