//! Stopping a run.

use munshi_types::{RunId, TenantId};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::runs::{self, CancelAsked};

/// What came of asking a run to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It stops at its next step. What it is doing at this moment is finished first: nothing is left half done.
    Asked,
    /// It had ended before.
    TooLate,
}

impl Engine {
    /// Asks a run to stop, whichever node works on it.
    pub async fn cancel(&self, tenant: TenantId, run: RunId) -> Result<Cancelled> {
        let now = self.inner.clock.now();
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<_> {
            Ok(match runs::ask_cancel(tx, run, now)? {
                CancelAsked::Unheld => (CancelAsked::Unheld, runs::take_up(tx, run, now)?),
                other => (other, None),
            })
        };
        match self.inner.db.write(tenant, unit).await? {
            (CancelAsked::NoRun, _) => return Err(Error::NoRun),
            (CancelAsked::Ended, _) => return Ok(Cancelled::TooLate),
            // Nobody works on it: this process does, to end it.
            (CancelAsked::Unheld, Some(run)) => self.start(run.held(tenant), None),
            (CancelAsked::Noted | CancelAsked::Unheld, _) => {}
        }
        if let Some(room) = self.inner.hub.find(run) {
            room.stop();
        }
        Ok(Cancelled::Asked)
    }
}
