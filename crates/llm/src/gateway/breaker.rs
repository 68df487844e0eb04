//! Leaving a target alone that keeps failing.

use std::collections::VecDeque;
use std::time::Duration;

use munshi_types::Timestamp;

use crate::error::ModelError;

/// More than this many failures within the window open the breaker, if they are at least half of the calls: on a busy
/// installation a few always fail, and a provider that answers the others is not to be skipped.
const FAILURES: usize = 3;
const WINDOW: Duration = Duration::from_secs(5 * 60);
const PAUSE: Duration = Duration::from_secs(10 * 60);
/// A trial that never reports back is forgotten after this long.
const TRIAL: Duration = Duration::from_secs(3 * 60);
/// As many calls as are remembered.
const MEMORY: usize = 256;

/// One target's record. Shared by all calls of a process.
#[derive(Clone, Debug, Default)]
pub struct CircuitBreaker {
    /// When calls ended lately, and whether they failed.
    calls: VecDeque<(Timestamp, bool)>,
    open_until: Option<Timestamp>,
    trial_since: Option<Timestamp>,
    /// The provider asked for a pause; everybody keeps to it.
    limited_until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerDecision {
    Allow,
    /// The breaker's pause is over: this one call finds out whether the target is well again.
    Trial,
    Skip {
        until: Timestamp,
    },
}

/// What a call has found out about its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthSignal {
    Success,
    Failure,
    /// It ended for a reason that says nothing about the target.
    Neutral,
}

impl HealthSignal {
    /// A provider that says when to come back is not ill: it is left alone until then.
    pub fn of(fault: Option<&ModelError>) -> Self {
        match fault {
            None => Self::Success,
            Some(ModelError::RateLimited { retry_after: Some(_) }) => Self::Neutral,
            Some(fault) if fault.blames_target() => Self::Failure,
            Some(_) => Self::Neutral,
        }
    }
}

impl CircuitBreaker {
    pub fn try_acquire(&mut self, now: Timestamp) -> BreakerDecision {
        if let Some(until) = self.limited_until.filter(|until| now < *until) {
            return BreakerDecision::Skip { until };
        }
        let Some(until) = self.open_until else { return BreakerDecision::Allow };
        if now < until {
            return BreakerDecision::Skip { until };
        }
        match self.trial_since {
            Some(since) if now.since(since) < TRIAL => BreakerDecision::Skip { until: since.plus(TRIAL) },
            _ => {
                self.trial_since = Some(now);
                BreakerDecision::Trial
            }
        }
    }

    /// A call has ended. Only the trial itself decides a trial: a call from before may end after it began.
    pub fn record_outcome(&mut self, finding: HealthSignal, permission: BreakerDecision, now: Timestamp) {
        match (permission, finding) {
            (BreakerDecision::Trial, HealthSignal::Success) => {
                *self = Self { limited_until: self.limited_until, ..Self::default() };
            }
            (BreakerDecision::Trial, HealthSignal::Failure) => {
                self.trial_since = None;
                self.open_until = Some(now.plus(PAUSE));
            }
            (BreakerDecision::Trial, HealthSignal::Neutral) => self.trial_since = None,
            (_, HealthSignal::Neutral) => {}
            (_, _) if self.open_until.is_some() => {}
            (_, finding) => self.record_call(finding == HealthSignal::Failure, now),
        }
    }

    fn record_call(&mut self, has_failed: bool, now: Timestamp) {
        self.calls.push_back((now, has_failed));
        while self.calls.len() > MEMORY || self.calls.front().is_some_and(|(at, _)| now.since(*at) > WINDOW) {
            self.calls.pop_front();
        }
        let failures = self.recent_failures(now);
        if has_failed && failures > FAILURES && failures * 2 >= self.calls.len() {
            self.open_until = Some(now.plus(PAUSE));
            self.calls.clear();
        }
    }

    pub fn limit_until(&mut self, until: Timestamp) {
        self.limited_until = self.limited_until.max(Some(until));
    }

    /// Until when calls are kept away, where they are.
    pub fn blocked_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.open_until.max(self.limited_until).filter(|until| now < *until)
    }

    /// How often it failed lately.
    pub fn recent_failures(&self, now: Timestamp) -> usize {
        self.calls.iter().filter(|(at, has_failed)| *has_failed && now.since(*at) <= WINDOW).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn failed(breaker: &mut CircuitBreaker, second: i64) {
        breaker.record_outcome(HealthSignal::Failure, BreakerDecision::Allow, at(second));
    }

    fn opened() -> CircuitBreaker {
        let mut breaker = CircuitBreaker::default();
        (0..4).for_each(|second| failed(&mut breaker, second));
        breaker
    }

    #[test]
    fn the_fourth_failure_in_five_minutes_opens_it_for_ten() {
        let mut breaker = CircuitBreaker::default();
        for second in [0, 100, 200] {
            failed(&mut breaker, second);
            assert_eq!(breaker.try_acquire(at(second)), BreakerDecision::Allow);
        }
        failed(&mut breaker, 299);
        assert_eq!(breaker.try_acquire(at(300)), BreakerDecision::Skip { until: at(899) });
        assert_eq!(breaker.try_acquire(at(899)), BreakerDecision::Trial);
        assert!(matches!(breaker.try_acquire(at(899)), BreakerDecision::Skip { .. }), "one trial at a time");
        breaker.record_outcome(HealthSignal::Success, BreakerDecision::Trial, at(900));
        assert_eq!(breaker.try_acquire(at(900)), BreakerDecision::Allow);
    }

    #[test]
    fn failures_far_apart_or_few_among_many_do_not_open_it() {
        let mut breaker = CircuitBreaker::default();
        (0..20).for_each(|minute| failed(&mut breaker, minute * 101));
        assert_eq!(breaker.try_acquire(at(2020)), BreakerDecision::Allow);
        let mut busy = CircuitBreaker::default();
        for second in 0..250 {
            let finding = if second % 20 == 0 { HealthSignal::Failure } else { HealthSignal::Success };
            busy.record_outcome(finding, BreakerDecision::Allow, at(second));
        }
        assert_eq!(busy.try_acquire(at(250)), BreakerDecision::Allow, "one in twenty fails");
    }

    #[test]
    fn a_success_now_and_then_does_not_hide_failures() {
        let mut breaker = CircuitBreaker::default();
        for second in 0..8 {
            let finding = if second % 4 == 3 { HealthSignal::Success } else { HealthSignal::Failure };
            breaker.record_outcome(finding, BreakerDecision::Allow, at(second));
        }
        assert!(matches!(breaker.try_acquire(at(8)), BreakerDecision::Skip { .. }));
    }

    #[test]
    fn a_failed_trial_means_ten_more_minutes_and_a_lost_one_is_forgotten() {
        let mut breaker = opened();
        assert_eq!(breaker.try_acquire(at(700)), BreakerDecision::Trial);
        breaker.record_outcome(HealthSignal::Failure, BreakerDecision::Trial, at(701));
        assert_eq!(breaker.try_acquire(at(702)), BreakerDecision::Skip { until: at(1301) });
        assert_eq!(breaker.try_acquire(at(1400)), BreakerDecision::Trial);
        assert_eq!(breaker.try_acquire(at(1600)), BreakerDecision::Trial, "the last one never came back");
    }

    #[test]
    fn only_the_trial_decides() {
        let mut breaker = opened();
        breaker.record_outcome(HealthSignal::Success, BreakerDecision::Allow, at(5));
        assert!(
            matches!(breaker.try_acquire(at(6)), BreakerDecision::Skip { .. }),
            "a call from before the opening"
        );
        assert_eq!(breaker.try_acquire(at(700)), BreakerDecision::Trial);
        breaker.record_outcome(HealthSignal::Neutral, BreakerDecision::Allow, at(701));
        assert!(
            matches!(breaker.try_acquire(at(702)), BreakerDecision::Skip { .. }),
            "somebody else's cancelled call"
        );
        breaker.record_outcome(HealthSignal::Neutral, BreakerDecision::Trial, at(703));
        assert_eq!(
            breaker.try_acquire(at(704)),
            BreakerDecision::Trial,
            "the trial found out nothing: the next one may"
        );
    }

    #[test]
    fn a_pause_the_provider_asked_for_holds_for_everybody() {
        let mut breaker = CircuitBreaker::default();
        breaker.limit_until(at(30));
        breaker.limit_until(at(10));
        assert_eq!(breaker.try_acquire(at(29)), BreakerDecision::Skip { until: at(30) });
        assert_eq!(breaker.try_acquire(at(30)), BreakerDecision::Allow);
    }
}
