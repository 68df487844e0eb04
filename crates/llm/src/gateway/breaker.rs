//! Leaving a target alone that keeps failing.

use std::collections::VecDeque;
use std::time::Duration;

use munshi_types::Timestamp;

use crate::fault::Fault;

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
pub struct Breaker {
    /// When calls ended lately, and whether they failed.
    calls: VecDeque<(Timestamp, bool)>,
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

/// What a call has found out about its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    Well,
    Ill,
    /// It ended for a reason that says nothing about the target.
    Nothing,
}

impl Finding {
    /// A provider that says when to come back is not ill: it is left alone until then.
    pub fn of(fault: Option<&Fault>) -> Self {
        match fault {
            None => Self::Well,
            Some(Fault::RateLimited { retry_after: Some(_) }) => Self::Nothing,
            Some(fault) if fault.blames_target() => Self::Ill,
            Some(_) => Self::Nothing,
        }
    }
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

    /// A call has ended. Only the trial itself decides a trial: a call from before may end after it began.
    pub fn report(&mut self, finding: Finding, permission: Permission, now: Timestamp) {
        match (permission, finding) {
            (Permission::Trial, Finding::Well) => {
                *self = Self { limited_until: self.limited_until, ..Self::default() };
            }
            (Permission::Trial, Finding::Ill) => {
                self.trial_since = None;
                self.open_until = Some(now.plus(PAUSE));
            }
            (Permission::Trial, Finding::Nothing) => self.trial_since = None,
            (_, Finding::Nothing) => {}
            (_, _) if self.open_until.is_some() => {}
            (_, finding) => self.remember(finding == Finding::Ill, now),
        }
    }

    fn remember(&mut self, has_failed: bool, now: Timestamp) {
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

    pub fn limited(&mut self, until: Timestamp) {
        self.limited_until = self.limited_until.max(Some(until));
    }

    /// Until when calls are kept away, where they are.
    pub fn closed_until(&self, now: Timestamp) -> Option<Timestamp> {
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

    fn failed(breaker: &mut Breaker, second: i64) {
        breaker.report(Finding::Ill, Permission::Yes, at(second));
    }

    fn opened() -> Breaker {
        let mut breaker = Breaker::default();
        (0..4).for_each(|second| failed(&mut breaker, second));
        breaker
    }

    #[test]
    fn the_fourth_failure_in_five_minutes_opens_it_for_ten() {
        let mut breaker = Breaker::default();
        for second in [0, 100, 200] {
            failed(&mut breaker, second);
            assert_eq!(breaker.ask(at(second)), Permission::Yes);
        }
        failed(&mut breaker, 299);
        assert_eq!(breaker.ask(at(300)), Permission::No { until: at(899) });
        assert_eq!(breaker.ask(at(899)), Permission::Trial);
        assert!(matches!(breaker.ask(at(899)), Permission::No { .. }), "one trial at a time");
        breaker.report(Finding::Well, Permission::Trial, at(900));
        assert_eq!(breaker.ask(at(900)), Permission::Yes);
    }

    #[test]
    fn failures_far_apart_or_few_among_many_do_not_open_it() {
        let mut breaker = Breaker::default();
        (0..20).for_each(|minute| failed(&mut breaker, minute * 101));
        assert_eq!(breaker.ask(at(2020)), Permission::Yes);
        let mut busy = Breaker::default();
        for second in 0..250 {
            let finding = if second % 20 == 0 { Finding::Ill } else { Finding::Well };
            busy.report(finding, Permission::Yes, at(second));
        }
        assert_eq!(busy.ask(at(250)), Permission::Yes, "one in twenty fails");
    }

    #[test]
    fn a_success_now_and_then_does_not_hide_failures() {
        let mut breaker = Breaker::default();
        for second in 0..8 {
            let finding = if second % 4 == 3 { Finding::Well } else { Finding::Ill };
            breaker.report(finding, Permission::Yes, at(second));
        }
        assert!(matches!(breaker.ask(at(8)), Permission::No { .. }));
    }

    #[test]
    fn a_failed_trial_means_ten_more_minutes_and_a_lost_one_is_forgotten() {
        let mut breaker = opened();
        assert_eq!(breaker.ask(at(700)), Permission::Trial);
        breaker.report(Finding::Ill, Permission::Trial, at(701));
        assert_eq!(breaker.ask(at(702)), Permission::No { until: at(1301) });
        assert_eq!(breaker.ask(at(1400)), Permission::Trial);
        assert_eq!(breaker.ask(at(1600)), Permission::Trial, "the last one never came back");
    }

    #[test]
    fn only_the_trial_decides() {
        let mut breaker = opened();
        breaker.report(Finding::Well, Permission::Yes, at(5));
        assert!(matches!(breaker.ask(at(6)), Permission::No { .. }), "a call from before the opening");
        assert_eq!(breaker.ask(at(700)), Permission::Trial);
        breaker.report(Finding::Nothing, Permission::Yes, at(701));
        assert!(matches!(breaker.ask(at(702)), Permission::No { .. }), "somebody else's cancelled call");
        breaker.report(Finding::Nothing, Permission::Trial, at(703));
        assert_eq!(breaker.ask(at(704)), Permission::Trial, "the trial found out nothing: the next one may");
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
