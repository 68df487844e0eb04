//! How much work waits: for the metrics, and for turns that leave out what they can while many wait.

use std::sync::atomic::{AtomicUsize, Ordering};

use metrics::gauge;
use munshi_conversations::run_load::{BUSY_ABOVE, count_all};
use munshi_conversations::runs::RunLane;
use munshi_conversations::{RUNS, Result};

use crate::engine::TurnEngine;

/// How many wait in each lane, as it was a moment ago.
#[derive(Debug, Default)]
pub(crate) struct WaitingCounts {
    chat: AtomicUsize,
    background: AtomicUsize,
}

impl WaitingCounts {
    const fn of(&self, lane: RunLane) -> &AtomicUsize {
        match lane {
            RunLane::Chat => &self.chat,
            RunLane::Background => &self.background,
        }
    }

    /// Whether so many wait that what is optional is left out.
    pub(crate) fn is_busy(&self, lane: RunLane) -> bool {
        self.of(lane).load(Ordering::Relaxed) > BUSY_ABOVE
    }

    pub(crate) fn set(&self, lane: RunLane, waiting: usize) {
        self.of(lane).store(waiting, Ordering::Relaxed);
    }
}

impl TurnEngine {
    /// Counts what waits on the whole installation, for the metrics and for turns under way here.
    pub async fn measure_load(&self) -> Result<()> {
        let now = self.inner.clock.now();
        let lanes = self.inner.db.platform(RUNS).read(count_all).await?;
        for (lane, waiting, oldest) in lanes {
            self.inner.waiting.set(lane, waiting);
            let age = oldest.map_or(0.0, |oldest| now.since(oldest).as_secs_f64());
            #[expect(clippy::cast_precision_loss, reason = "a count for a graph")]
            gauge!("munshi_runs_waiting", "lane" => lane.as_str()).set(waiting as f64);
            gauge!("munshi_runs_oldest_waiting_seconds", "lane" => lane.as_str()).set(age);
        }
        #[expect(clippy::cast_precision_loss, reason = "a count for a graph")]
        {
            gauge!("munshi_chat_places").set(self.inner.places.most() as f64);
            gauge!("munshi_chat_places_taken").set(self.inner.places.taken() as f64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_is_not_yet_busy() {
        let counts = WaitingCounts::default();
        counts.set(RunLane::Chat, BUSY_ABOVE);
        assert!(!counts.is_busy(RunLane::Chat));
        counts.set(RunLane::Chat, BUSY_ABOVE + 1);
        assert_eq!((counts.is_busy(RunLane::Chat), counts.is_busy(RunLane::Background)), (true, false));
    }
}
