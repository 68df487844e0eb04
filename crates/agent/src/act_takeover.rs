//! An act that a former holder of a run had begun, taken over by whoever resumes the run.

use std::time::{Duration, Instant};

use munshi_types::{ActId, TenantId};

use crate::engine::TurnEngineInner;

/// So long after a try that failed comes the next.
const PAUSE: Duration = Duration::from_secs(1);

/// When to try. One try would not do: the former holder may stand still with the act's row locked, or a sweep may just look at it, and
/// without another the run would wait for the act's whole lease.
#[derive(Debug, Default)]
pub(crate) struct TakeoverPace(Option<Instant>);

impl TakeoverPace {
    pub(crate) fn is_due(&mut self) -> bool {
        let is_due = self.0.is_none_or(|tried| tried.elapsed() >= PAUSE);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}

impl TurnEngineInner {
    /// Looks after it at once, by what it does to the world. False where somebody else is at it.
    pub(crate) async fn take_over_left(&self, tenant: TenantId, act: ActId) -> bool {
        self.dispatcher.take_over_orphaned(tenant, act).await.unwrap_or_else(|error| {
            tracing::warn!(%act, %error, "orphaned act takeover failed");
            false
        })
    }
}
