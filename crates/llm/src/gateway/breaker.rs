//! Leaving a target alone that keeps failing.

use std::collections::VecDeque;
use std::time::Duration;

use munshi_types::Timestamp;

use crate::fault::Fault;

/// More than this many failures within the window open the breaker.
const FAILURES: usize = 3;
const WINDOW: Duration = Duration::from_secs(5 * 60);
const PAUSE: Duration = Duration::from_secs(10 * 60);
/// A trial that never reports back is forgotten after this long.
const TRIAL: Duration = Duration::from_secs(3 * 60);

/// One target's record. Shared by all calls of a process.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    failures: VecDeque<Timestamp>,
    open_until: Option<Timestamp>,
    trial_since: Option<Timestamp>,
    /// The provider asked for a pause; everybody keeps to it.
    limited_until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Yes,
    /// The breaker's pause is over: this one call finds out whether the target is well again.
    Trial,
    No {
        until: Timestamp,
    },
}

impl Breaker {
    pub fn ask(&mut self, now: Timestamp) -> Permission {
        if let Some(until) = self.limited_until.filter(|until| now < *until) {
            return Permission::No { until };
        }
        let Some(until) = self.open_until else { return Permission::Yes };
        if now < until {
            return Permission::No { until };
        }
        match self.trial_since {
            Some(since) if now.since(since) < TRIAL => Permission::No { until: since.plus(TRIAL) },
            _ => {
                self.trial_since = Some(now);
                Permission::Trial
            }
        }
    }

    pub fn succeeded(&mut self) {
        *self = Self { limited_until: self.limited_until, ..Self::default() };
    }

    pub fn failed(&mut self, now: Timestamp) {
        if self.trial_since.take().is_some() {
            self.open_until = Some(now.plus(PAUSE));
            return;
        }
        self.failures.push_back(now);
        while self.failures.front().is_some_and(|first| now.since(*first) > WINDOW) {
            self.failures.pop_front();
        }
        if self.failures.len() > FAILURES {
            self.open_until = Some(now.plus(PAUSE));
            self.failures.clear();
        }
    }

    /// A call's fault, by what it says about the target. A provider that says when to come back is not ill: it is left
    /// alone until then.
    pub fn take(&mut self, fault: &Fault, now: Timestamp) {
        if let Some(wait) = fault.retry_after() {
            self.limited(now.plus(wait));
        }
        match fault {
            Fault::RateLimited { retry_after: Some(_) } => self.undecided(),
            fault if fault.blames_target() => self.failed(now),
            _ => self.undecided(),
        }
    }

    /// A call that ended for a reason that says nothing about the target frees the trial for another.
    pub fn undecided(&mut self) {
        self.trial_since = None;
    }

    pub fn limited(&mut self, until: Timestamp) {
        self.limited_until = self.limited_until.max(Some(until));
    }

    /// Until when calls are kept away, where they are.
    pub fn closed_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.open_until.max(self.limited_until).filter(|until| now < *until)
    }

    /// How often it failed lately.
    pub fn recent_failures(&self, now: Timestamp) -> usize {
        self.failures.iter().filter(|at| now.since(**at) <= WINDOW).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn the_fourth_failure_in_five_minutes_opens_it_for_ten() {
        let mut breaker = Breaker::default();
        for second in [0, 100, 200] {
            breaker.failed(at(second));
            assert_eq!(breaker.ask(at(second)), Permission::Yes);
        }
        breaker.failed(at(299));
        assert_eq!(breaker.ask(at(300)), Permission::No { until: at(899) });
        assert_eq!(breaker.ask(at(899)), Permission::Trial);
        assert!(matches!(breaker.ask(at(899)), Permission::No { .. }), "one trial at a time");
        breaker.succeeded();
        assert_eq!(breaker.ask(at(900)), Permission::Yes);
    }

    #[test]
    fn failures_far_apart_do_not_open_it() {
        let mut breaker = Breaker::default();
        for minute in 0..20 {
            breaker.failed(at(minute * 101));
        }
        assert_eq!(breaker.ask(at(2020)), Permission::Yes);
    }

    #[test]
    fn a_failed_trial_means_ten_more_minutes_and_a_lost_one_is_forgotten() {
        let mut breaker = Breaker::default();
        (0..4).for_each(|second| breaker.failed(at(second)));
        assert_eq!(breaker.ask(at(700)), Permission::Trial);
        breaker.failed(at(701));
        assert_eq!(breaker.ask(at(702)), Permission::No { until: at(1301) });
        assert_eq!(breaker.ask(at(1400)), Permission::Trial);
        assert_eq!(breaker.ask(at(1600)), Permission::Trial, "the last one never came back");
    }

    #[test]
    fn a_pause_the_provider_asked_for_holds_for_everybody() {
        let mut breaker = Breaker::default();
        breaker.limited(at(30));
        breaker.limited(at(10));
        assert_eq!(breaker.ask(at(29)), Permission::No { until: at(30) });
        assert_eq!(breaker.ask(at(30)), Permission::Yes);
    }
}
