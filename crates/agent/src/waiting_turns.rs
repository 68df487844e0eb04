//! Turns that found no free place are begun when there is one, on whichever node.

use munshi_conversations::{RUNS, Result, runs};

use crate::engine::TurnEngine;

/// So many are looked for at once.
const LOOK: usize = 64;

impl TurnEngine {
    /// Takes up turns that wait, as long as there are places and anything waits.
    pub(crate) async fn sweep_waiting(&self) -> Result<usize> {
        let mut begun = 0;
        loop {
            let mut places = self.inner.places.take_free(LOOK);
            if places.is_empty() {
                return Ok(begun);
            }
            let limit = places.len();
            let demand = self.inner.places.demand();
            let found = self.inner.db.platform(RUNS).read(move |tx| runs::list_waiting(tx, limit)).await?;
            let is_all = found.len() < limit;
            let terms = self.inner.ingest_services.terms(self.inner.clock.now());
            let leases = match found.is_empty() {
                true => Vec::new(),
                false => {
                    self.inner
                        .db
                        .platform(RUNS)
                        .write(move |tx| runs::claim_waiting(tx, &found, terms))
                        .await?
                }
            };
            begun += leases.len();
            let is_progress = !leases.is_empty();
            for lease in leases {
                let place = places.pop().unwrap_or_else(|| self.inner.places.take_beyond());
                let pending = self.inner.take_pending_turn(lease).await;
                self.start(lease, pending, place);
            }
            if is_all {
                self.inner.places.settle(demand);
                return Ok(begun);
            }
            // More may wait than were looked for.
            self.inner.places.request();
            // Another node was quicker with all of these; the next look finds others.
            if !is_progress {
                return Ok(begun);
            }
        }
    }
}
