//! Taking up what dead processes left, and what people have answered meanwhile.

use std::collections::BTreeMap;

use munshi_safety::approvals::{self, State};
use munshi_store::{PlatformTx, across_tenants, params};
use munshi_types::{RunId, TenantId};
use tokio_util::sync::CancellationToken;

use crate::RUNS;
use crate::engine::Engine;
use crate::error::Result;
use crate::runs::{self, Due};

/// So many are taken up in one go.
const MOST: u32 = 64;
/// So many that wait for a person are looked at in one go.
const WAITING: i64 = 500;

impl Engine {
    /// Takes up what a dead process left and sweeps until `stop` is cancelled; then waits for turns under way within
    /// the grace. What does not end in time is left to another: its lease passes.
    pub async fn serve(&self, stop: CancellationToken) {
        // On SQLite there is one process: whatever was held, nobody holds any more.
        let first = match self.inner.db.engine() {
            "sqlite" => Due::All { since: self.inner.born },
            _ => Due::Lapsed,
        };
        self.report(self.sweep(first).await);
        let mut ticks = tokio::time::interval(self.inner.settings.sweep);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = ticks.tick() => self.report(self.sweep(Due::Lapsed).await),
            }
        }
        self.inner.tasks.close();
        if tokio::time::timeout(self.inner.settings.grace, self.inner.tasks.wait()).await.is_err() {
            tracing::warn!(turns = self.inner.hub.live(), "turns under way are left for another to take up");
        }
        self.abandon();
    }

    /// Stops every turn of this process where it is, as a crash would. Another takes them up.
    pub fn abandon(&self) {
        self.inner.abandon.cancel();
    }

    fn report(&self, swept: Result<usize>) {
        match swept {
            Ok(0) => {}
            Ok(runs) => tracing::info!(runs, "took up runs that were left"),
            Err(error) => tracing::warn!(%error, "looking for runs that were left failed; trying again"),
        }
    }

    /// Takes up every run that nobody works on and somebody should. Safe on every node at once: each goes to one.
    pub async fn sweep(&self, due: Due) -> Result<usize> {
        let (now, mut taken) = (self.inner.clock.now(), 0);
        loop {
            let unit = move |tx: &mut PlatformTx<'_>| runs::claim_due(tx, due, now, MOST);
            let held = self.inner.db.platform(RUNS).write(unit).await?;
            let count = held.len();
            held.into_iter().for_each(|held| self.start(held, None));
            taken += count;
            if count < MOST as usize {
                break;
            }
        }
        let unit = move |tx: &mut PlatformTx<'_>| runs::claim_forgotten(tx, now, MOST);
        let forgotten = self.inner.db.platform(RUNS).write(unit).await?;
        taken += forgotten.len();
        forgotten.into_iter().for_each(|held| self.start(held, None));
        Ok(taken + self.sweep_answered().await?)
    }

    /// Runs whose question was answered, or ran out of time, while nobody was there to go on.
    pub(crate) async fn sweep_answered(&self) -> Result<usize> {
        let waiting = self.inner.db.platform(RUNS).read(waiting).await?;
        let mut by_tenant: BTreeMap<TenantId, Vec<RunId>> = BTreeMap::new();
        for (tenant, run) in waiting {
            by_tenant.entry(tenant).or_default().push(run);
        }
        let mut taken = 0;
        for (tenant, ids) in by_tenant {
            let answered = self.inner.db.read(tenant, move |tx| answered(tx, ids)).await?;
            for run in answered {
                self.take_up(tenant, run).await?;
                taken += 1;
            }
        }
        Ok(taken)
    }
}

/// Those that wait for a person, the longest first.
fn waiting(tx: &mut PlatformTx<'_>) -> munshi_store::Result<Vec<(TenantId, RunId)>> {
    tx.all(
        across_tenants(
            "SELECT tenant_id, id FROM runs WHERE state = 'waiting_approval' AND ended_at IS NULL
             ORDER BY began_at LIMIT $1",
        ),
        params![WAITING],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Those of which some question is no longer open.
fn answered(tx: &mut munshi_store::Tx<'_>, runs: Vec<RunId>) -> Result<Vec<RunId>> {
    let mut answered = Vec::new();
    for id in runs {
        let Some(run) = runs::find(tx, id)? else { continue };
        let mut is_open = true;
        for approval in run.snapshot.questions() {
            is_open &= approvals::find(tx, approval)?.is_some_and(|known| known.state == State::Pending);
        }
        if !is_open {
            answered.push(id);
        }
    }
    Ok(answered)
}
