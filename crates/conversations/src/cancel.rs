//! Asking a run to stop, with what it has asked people.

use munshi_store::Tx;
use munshi_types::{IdGenerator, RunId, Timestamp};

use crate::commit;
use crate::error::Result;
use crate::runs::{self, CancelRequestOutcome, LeaseTerms, Run};
use crate::state::HaltReason;

/// Asks a run to stop where no engine is at hand. One that nobody works on is held for the length of a lease by nobody: then
/// a node takes it up, sees what was asked, and ends it.
pub fn request_unattended(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    run: RunId,
    now: Timestamp,
) -> Result<CancelRequestOutcome> {
    let asked = runs::request_cancel(tx, run, now)?;
    if asked == CancelRequestOutcome::Unheld {
        claim_and_withdraw(tx, ids, run, now.into())?;
    }
    Ok(asked)
}

/// Takes up a run that nobody works on, and takes back what it has asked people.
pub fn claim_and_withdraw(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    run: RunId,
    terms: LeaseTerms,
) -> Result<Option<Run>> {
    let now = terms.now;
    let taken = runs::claim(tx, run, terms)?;
    let questions = taken.as_ref().map(|run| run.snapshot.pending_approvals()).unwrap_or_default();
    let untold = commit::withdraw(tx, &questions, HaltReason::Cancelled.code(), now)?;
    untold.record_with_ids(tx, ids, now)?;
    Ok(taken)
}
