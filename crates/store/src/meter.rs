//! What the store's threads count. Handles are made once per thread, so a unit costs an increment.

use metrics::{Counter, Histogram, counter, histogram};

use crate::error::Error;

pub(crate) struct StoreMeter {
    engine: &'static str,
    kind: &'static str,
    committed: Counter,
    refused: Counter,
    commit_seconds: Histogram,
    group_size: Histogram,
}

impl StoreMeter {
    pub(crate) fn new(engine: &'static str, kind: &'static str) -> Self {
        let units = |outcome: &'static str| counter!("munshi_store_units_total", "engine" => engine, "kind" => kind, "outcome" => outcome);
        Self {
            engine,
            kind,
            committed: units("committed"),
            refused: units("rolled_back"),
            commit_seconds: histogram!("munshi_store_commit_seconds", "engine" => engine),
            group_size: histogram!("munshi_store_group_size", "engine" => engine),
        }
    }

    pub(crate) fn record_commits(&self, units: usize) {
        self.committed.increment(units as u64);
    }

    pub(crate) fn record_rollback(&self) {
        self.refused.increment(1);
    }

    pub(crate) fn record_failure(&self, error: &Error) {
        let (engine, kind, outcome) = (self.engine, self.kind, error.label());
        counter!("munshi_store_units_total", "engine" => engine, "kind" => kind, "outcome" => outcome)
            .increment(1);
    }

    pub(crate) fn record_group(&self, size: usize, commit: std::time::Duration) {
        self.group_size.record(size as f64);
        self.commit_seconds.record(commit.as_secs_f64());
    }
}
