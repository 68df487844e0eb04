//! Stopping a run.

use munshi_types::{RunId, TenantId};

use crate::commit;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::runs::{self, CancelAsked};
use crate::state::Halt;

/// What came of asking a run to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It stops at its next step. What it is doing at this moment is finished first: nothing is left half done.
    Asked,
    /// It had ended before.
    TooLate,
}

impl Engine {
    /// Asks a run to stop, whichever node works on it. What it has asked a person is taken back with that: a yes that
    /// comes later does nothing.
    pub async fn cancel(&self, tenant: TenantId, run: RunId) -> Result<Cancelled> {
        let engine = self.clone();
        self.detached(async move { engine.stop(tenant, run).await }).await
    }

    async fn stop(&self, tenant: TenantId, run: RunId) -> Result<Cancelled> {
        let now = self.inner.clock.now();
        let (ids, terms) = (self.inner.ids.clone(), self.inner.desk.terms(now));
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            let asked = runs::ask_cancel(tx, run, now)?;
            if asked != CancelAsked::Unheld {
                return Ok((asked, None));
            }
            let taken = runs::take_up(tx, run, terms)?;
            let questions = taken.as_ref().map(|run| run.snapshot.questions()).unwrap_or_default();
            let untold = commit::withdraw(tx, &questions, Halt::Cancelled.code(), now)?;
            untold.tell_with(tx, &ids, now)?;
            Ok((asked, taken))
        };
        match self.inner.db.write(tenant, unit).await? {
            (CancelAsked::NoRun, _) => return Err(Error::NoRun),
            (CancelAsked::Ended, _) => return Ok(Cancelled::TooLate),
            // Nobody works on it: this process does, to end it.
            (CancelAsked::Unheld, Some(run)) => self.start(run.held(tenant), None),
            (CancelAsked::Noted | CancelAsked::Unheld, _) => {}
        }
        if let Some(room) = self.inner.hub.find(tenant, run) {
            room.stop();
        }
        Ok(Cancelled::Asked)
    }
}
