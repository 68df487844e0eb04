//! Stopping a run.

use munshi_conversations::background::store::enqueue_run;
use munshi_conversations::runs::{self, CancelRequestOutcome, RunLane};
use munshi_conversations::{Error, HaltReason, Result, cancel, commit};
use munshi_types::{RunId, TenantId};

use crate::engine::TurnEngine;

/// What came of asking a run to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunCancelOutcome {
    /// It stops at its next step. What it is doing at this moment is finished first: nothing is left half done.
    Asked,
    /// It had ended before.
    TooLate,
}

impl TurnEngine {
    /// Asks a run to stop, whichever node works on it. What it has asked a person is taken back with that: a yes that
    /// comes later does nothing.
    pub async fn cancel(&self, tenant: TenantId, run: RunId) -> Result<RunCancelOutcome> {
        let engine = self.clone();
        self.run_detached(async move { engine.stop(tenant, run).await }).await
    }

    async fn stop(&self, tenant: TenantId, run: RunId) -> Result<RunCancelOutcome> {
        let now = self.inner.clock.now();
        let (ids, terms) = (self.inner.ids.clone(), self.inner.ingest_services.terms(now));
        let queue = self.inner.ingest_services.queue.clone();
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let asked = runs::request_cancel(tx, run, now)?;
            if asked != CancelRequestOutcome::Unheld {
                return Ok((asked, None));
            }
            if let Some(known) = runs::find(tx, run)?.filter(|run| run.lane == RunLane::Background) {
                enqueue_run(tx, &queue, run, "cancel", None)?;
                let questions = known.snapshot.pending_approvals();
                let untold = commit::withdraw(tx, &questions, HaltReason::Cancelled.code(), now)?;
                untold.record_with_ids(tx, &ids, now)?;
                return Ok((asked, None));
            }
            Ok((asked, cancel::claim_and_withdraw(tx, &ids, run, terms)?))
        };
        match self.inner.db.write(tenant, unit).await? {
            (CancelRequestOutcome::NoRun, _) => return Err(Error::NoRun),
            (CancelRequestOutcome::Ended, _) => return Ok(RunCancelOutcome::TooLate),
            // Nobody works on it: this process does, to end it.
            (CancelRequestOutcome::Unheld, Some(run)) => {
                self.start(run.lease(tenant), None, self.inner.places.take_beyond());
            }
            (CancelRequestOutcome::Noted | CancelRequestOutcome::Unheld, _) => {}
        }
        if let Some(run_channel) = self.inner.run_channels.find(tenant, run) {
            run_channel.stop();
        }
        Ok(RunCancelOutcome::Asked)
    }
}
