//! What work costs the person on whose behalf it is done: one conversation, however many steps it takes.

use munshi_conversations::background::store;
use munshi_conversations::runs::Run;
use munshi_conversations::{HaltReason, Result};
use munshi_pack::RunDelegator;
use munshi_safety::acts;
use munshi_safety::budget::{BudgetAccount, BudgetAmount, BudgetGovernor, BudgetLane, SettleOutcome};
use munshi_store::{Tx, tenants};
use munshi_types::{ReservationId, RunId, Timestamp};

/// What is set aside for a run, and for whom.
#[derive(Clone, Debug)]
pub(super) struct RunBill {
    run: RunId,
    reservation: ReservationId,
    by: RunDelegator,
}

impl RunBill {
    /// None where nobody asked for it, or where it is part of another.
    pub(super) fn find(run: &Run) -> Option<Self> {
        Some(Self { run: run.id, reservation: run.reservation?, by: run.delegator()?.clone() })
    }

    /// Books it, once, in the transaction of the run's end. Counters are locked before runs, so it comes first there. What only ended
    /// with an excuse is not billed, unless it or a run that it began has done something.
    pub(super) fn settle(
        &self,
        tx: &mut Tx<'_>,
        governor: &BudgetGovernor,
        halt: Option<&HaltReason>,
        now: Timestamp,
    ) -> Result<()> {
        let amount = BudgetAmount::delegated_job();
        let is_free = halt.is_some_and(HaltReason::is_excuse) && !has_written(tx, self.run)?;
        let spent = if is_free { amount.without_billing() } else { amount };
        let settled = governor.settle(tx, self.reservation, &spent)?;
        // It waited for so long that what was set aside is forgotten.
        if settled == SettleOutcome::NotHeld && spent.interactions > 0 {
            let account = find_account(tx, &self.by)?;
            governor.book_unreserved(tx, &account, &spent, now)?;
        }
        Ok(())
    }
}

/// Whether a run, or one that it began, may have changed anything in the world.
fn has_written(tx: &mut Tx<'_>, run: RunId) -> Result<bool> {
    for run in store::list_with_descendants(tx, run)? {
        if acts::has_written(tx, run)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn find_account(tx: &mut Tx<'_>, by: &RunDelegator) -> Result<BudgetAccount> {
    let zone = tenants::find_zone(tx)?;
    Ok(BudgetAccount { binding: by.binding, person: Some(by.person), lane: BudgetLane::People, zone })
}

/// Sets one conversation aside for the work.
pub(super) fn reserve(
    tx: &mut Tx<'_>,
    governor: &BudgetGovernor,
    by: &RunDelegator,
    now: Timestamp,
) -> Result<ReservationId> {
    let account = find_account(tx, by)?;
    Ok(governor.reserve(tx, &account, &BudgetAmount::delegated_job(), now)?.id)
}
