//! Which process works on which runs, and which of those processes are surely dead.
//!
//! On Postgres several processes take up runs. One that was killed leaves its runs under leases; waiting for these to
//! pass is safe and slow. Where it can be proved that a holder is dead, its runs are taken up within a second or two. A
//! proof is that its process is gone from this very machine, or that its node has been started again, told by the lock
//! on the node's data folder. A lost connection proves nothing: a holder that is cut off may still be at work, and
//! keeps its lease.

use munshi_conversations::holders::{self, DeathProof};
use munshi_conversations::runs::{self, RunLease};
use munshi_conversations::{RUNS, Result};
use munshi_store::PlatformTx;
use munshi_types::{HolderId, Timestamp};

use crate::engine::TurnEngine;
use crate::recover::MOST;

impl TurnEngine {
    /// Lets others tell whether this process lives.
    pub(crate) async fn register(&self) -> Result<()> {
        let inner = &self.inner;
        let (Some(process), Some(holder)) = (inner.settings.process.clone(), inner.ingest_services.holder)
        else {
            return Ok(());
        };
        let now = inner.clock.now();
        inner.db.platform(RUNS).write(move |tx| holders::add(tx, holder, &process, now)).await?;
        Ok(())
    }

    /// Takes up what processes left that are surely dead.
    pub(crate) async fn sweep_dead_holders(&self) -> Result<usize> {
        let inner = &self.inner;
        let (Some(process), Some(holder)) = (&inner.settings.process, inner.ingest_services.holder) else {
            return Ok(0);
        };
        let others = inner.db.platform(RUNS).read(move |tx| holders::list_others(tx, holder)).await?;
        let latest = |proof| match proof {
            DeathProof::ProcessGone => Timestamp::MAX,
            DeathProof::NodeRestarted => inner.holding_since.plus(runs::LEASE),
        };
        let dead: Vec<_> = others
            .into_iter()
            .filter_map(|(holder, other)| Some((holder, latest(process.prove_death(&other)?))))
            .collect();
        let mut taken = 0;
        // A job goes on with these: they wait for no place here.
        for (dead, latest) in &dead {
            taken += self.wake_background_of(*dead, *latest).await?;
        }
        for whose in dead {
            let places = inner.places.take_free(MOST);
            if places.is_empty() {
                inner.places.request_for_left();
                break;
            }
            let terms = inner.ingest_services.terms(inner.clock.now());
            let limit = places.len();
            let unit = move |tx: &mut PlatformTx<'_>| runs::claim_from_holder(tx, whose, terms, limit);
            let leases: Vec<RunLease> = inner.db.platform(RUNS).write(unit).await?;
            taken += leases.len();
            self.start_all(leases, places);
        }
        Ok(taken)
    }
}

impl TurnEngine {
    /// Has somebody go on at once with work in the background that a dead process left: no lease is waited for, neither the run's nor its
    /// job's.
    async fn wake_background_of(&self, dead: HolderId, latest: Timestamp) -> Result<usize> {
        let now = self.inner.clock.now();
        let unit = move |tx: &mut PlatformTx<'_>| runs::release_of_holder(tx, (dead, latest), now);
        let left: Vec<RunLease> = self.inner.db.platform(RUNS).write(unit).await?;
        for lease in &left {
            self.wake(lease.tenant, lease.run, format!("dead/{}", lease.epoch)).await?;
        }
        Ok(left.len())
    }
}
