//! Runs that may have broken the process that worked on them.
//!
//! A process that is killed from outside is no fault of the runs it held. So a run that was taken up a few times without
//! coming further is not given up: it goes on alone, while no other turn of this process does, and a marker is committed
//! before. If the process dies then, it died of this run or was killed once more; only such deaths count. After a few of
//! them the run is set aside, and nobody else's. The last of these tries, which decides, waits until the process has lived
//! for a while: where somebody kills one process after another, it dies before, and that is no fault of the run.

use std::time::Duration;

use futures_util::future::BoxFuture;
use munshi_conversations::isolation::{MOST_TOGETHER, mark_alone, unmark_alone};
use munshi_conversations::runs::{self, RunLease};
use munshi_conversations::{Error, Result};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard};

use crate::engine::TurnEngineInner;

/// Deaths under its own marker, before it is set aside.
const MOST_DEATHS: usize = 3;
/// So long a process has lived before a run's last try in it.
const SETTLED: Duration = Duration::from_secs(5);
/// So often it is waited for that other turns end. Where turns always take longer it goes on beside them, marked all the
/// same: or it would end one process after another.
const TRIES: u32 = 4;
/// After this pause a marker that could not be taken back is tried once more.
const AGAIN: Duration = Duration::from_secs(1);

/// How a run may be worked on.
pub(crate) enum TurnPass {
    /// Beside others.
    Shared(#[allow(dead_code, reason = "held while the turn lasts")] OwnedRwLockReadGuard<()>),
    /// Beside others that take too long to wait for, under a committed marker.
    Marked(#[allow(dead_code, reason = "held while the turn lasts")] OwnedRwLockReadGuard<()>, RunLease),
    /// Alone, under a committed marker.
    Alone(OwnedRwLockWriteGuard<()>, RunLease),
    /// It broke whoever worked on it alone.
    SetAside,
}

impl TurnPass {
    /// Does the work while others keep away, if they have to.
    pub(crate) async fn run_guarded<T>(self, inner: &TurnEngineInner, mut work: BoxFuture<'_, T>) -> T {
        let lease = match self {
            Self::Marked(_, lease) | Self::Alone(_, lease) => lease,
            Self::Shared(_) | Self::SetAside => {
                let done = work.await;
                drop(self);
                return done;
            }
        };
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(inner.settings.isolation.hold) => {}
        }
        tokio::select! {
            done = &mut work => return done,
            () = inner.unmark(lease) => {}
        }
        // It is one of many from here on: who goes on alone next waits for it.
        let _beside = match self {
            Self::Alone(guard, _) => Self::Shared(guard.downgrade()),
            pass => pass,
        };
        work.await
    }
}

impl TurnEngineInner {
    /// Waits until the run may be worked on.
    pub(crate) async fn admit(&self, lease: RunLease) -> Result<TurnPass> {
        if lease.epoch <= MOST_TOGETHER {
            return Ok(TurnPass::Shared(self.turns.clone().read_owned().await));
        }
        let run = self.db.read(lease.tenant, move |tx| runs::find(tx, lease.run)).await?;
        let (mut snapshot, process) = (run.ok_or(Error::NoRun)?.snapshot, self.process);
        if !snapshot.is_suspect(lease) {
            return Ok(TurnPass::Shared(self.turns.clone().read_owned().await));
        }
        snapshot.forgive_survived(process, lease);
        let deaths = snapshot.deaths(lease);
        if deaths >= MOST_DEATHS {
            tracing::error!(run = %lease.run, deaths, "run aborted; it crashed every process that ran it in isolation");
            return Ok(TurnPass::SetAside);
        }
        if deaths + 1 >= MOST_DEATHS {
            tokio::time::sleep_until(self.started + SETTLED).await;
        }
        let pass = match self.wait_alone(lease).await {
            Some(guard) => TurnPass::Alone(guard, lease),
            None => TurnPass::Marked(self.turns.clone().read_owned().await, lease),
        };
        self.db.write(lease.tenant, move |tx| mark_alone(tx, lease, process)).await?;
        tracing::warn!(run = %lease.run, deaths, "run made no progress in several processes; running it in isolation");
        Ok(pass)
    }

    /// Takes the marker back. Until it is, others go on waiting rather than dying on its account.
    async fn unmark(&self, lease: RunLease) {
        while let Err(error) = self.db.write(lease.tenant, move |tx| unmark_alone(tx, lease)).await {
            tracing::warn!(run = %lease.run, %error, "isolation marker removal failed; retrying");
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn wait_alone(&self, lease: RunLease) -> Option<OwnedRwLockWriteGuard<()>> {
        let times = self.settings.isolation;
        for _ in 0..TRIES {
            let waiting = tokio::time::timeout(times.wait, self.turns.clone().write_owned());
            if let Ok(guard) = waiting.await {
                return Some(guard);
            }
            tokio::time::sleep(times.pause).await;
        }
        tracing::warn!(run = %lease.run, "timed out waiting for other turns; suspect run continues beside them");
        None
    }
}
