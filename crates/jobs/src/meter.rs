//! What the queue counts.

use std::time::Duration;

use metrics::{counter, gauge, histogram};

use crate::upkeep::QueueDepth;

pub(crate) fn record_finished(kind: &str, outcome: &'static str, took: Duration) {
    counter!("munshi_jobs_finished_total", "kind" => kind.to_owned(), "outcome" => outcome).increment(1);
    histogram!("munshi_jobs_run_seconds", "kind" => kind.to_owned()).record(took.as_secs_f64());
}

#[allow(clippy::cast_precision_loss, reason = "a gauge is a float; no queue holds 2^52 jobs")]
pub(crate) fn record_depth(depth: QueueDepth) {
    gauge!("munshi_jobs_scheduled").set(depth.scheduled as f64);
    gauge!("munshi_jobs_ready").set(depth.ready as f64);
    gauge!("munshi_jobs_running").set(depth.running as f64);
    gauge!("munshi_jobs_dead").set(depth.dead as f64);
}
