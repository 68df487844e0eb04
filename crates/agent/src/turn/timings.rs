//! How long what took.

use std::time::{Duration, Instant};

use munshi_conversations::{RunState, TurnTimings};

/// The clocks of a turn under way.
#[derive(Debug)]
pub(crate) struct TurnStopwatch {
    pub(crate) begun: Instant,
    /// Where the run is, and since when.
    pub(crate) state: RunState,
    pub(crate) entered_at: Instant,
    pub(crate) ingest: Duration,
    pub(crate) prepare: Duration,
    pub(crate) think: Duration,
    pub(crate) act: Duration,
    pub(crate) check: Duration,
    pub(crate) first_word: Option<Duration>,
    /// Spent on waiting for others, which is nobody's work.
    pub(crate) waited: Duration,
}

impl TurnStopwatch {
    pub(crate) fn begin(begun: Instant) -> Self {
        let zero = Duration::ZERO;
        Self {
            begun,
            state: RunState::Preparing,
            entered_at: begun,
            ingest: zero,
            prepare: zero,
            think: zero,
            act: zero,
            check: zero,
            first_word: None,
            waited: zero,
        }
    }

    /// A new state; gives the last one and how long it took. None where it is the same.
    pub(crate) fn enter(&mut self, state: RunState) -> Option<(RunState, Duration)> {
        if self.state == state {
            return None;
        }
        let before = std::mem::replace(&mut self.state, state);
        let since = std::mem::replace(&mut self.entered_at, Instant::now());
        Some((before, since.elapsed()))
    }

    /// Once: a turn that was handed on is prepared again in the middle of its work.
    pub(crate) fn mark_prepared(&mut self) {
        if self.prepare.is_zero() {
            self.prepare = self.begun.elapsed();
        }
    }

    /// What counts against the turn's own limit.
    pub(crate) fn work_time(&self) -> Duration {
        self.begun.elapsed().saturating_sub(self.waited)
    }

    /// With the time that storing the reply took; what is stored with the reply itself can't know it.
    pub(crate) fn read(&self, respond: Duration) -> TurnTimings {
        TurnTimings {
            ingest: micros(self.ingest),
            prepare: micros(self.prepare),
            think: micros(self.think),
            act: micros(self.act),
            check: micros(self.check),
            respond: micros(respond),
            first_word: self.first_word.map(|first| micros(first + self.ingest)),
            total: micros(self.begun.elapsed() + self.ingest),
        }
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
