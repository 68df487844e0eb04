//! What work costs the person on whose behalf it is done: one conversation, however many steps it takes.

use munshi_pack::RunDelegator;
use munshi_safety::budget::{BudgetAccount, BudgetAmount, BudgetGovernor, BudgetLane, SettleOutcome};
use munshi_store::{Tx, tenants};
use munshi_types::{ReservationId, Timestamp};

use crate::error::{Error, Result};
use crate::runs::Run;
use crate::state::HaltReason;

/// What is set aside for a run, and for whom.
#[derive(Clone, Debug)]
pub(super) struct RunBill {
    reservation: ReservationId,
    by: RunDelegator,
}

impl RunBill {
    /// None where nobody asked for it, or where it is part of another.
    pub(super) fn find(run: &Run) -> Option<Self> {
        Some(Self { reservation: run.reservation?, by: run.delegator()?.clone() })
    }

    /// Books it, once, in the transaction of the run's end. Counters are locked before runs, so it comes first there. What only ended
    /// with an excuse is not billed.
    pub(super) fn settle(
        &self,
        tx: &mut Tx<'_>,
        governor: &BudgetGovernor,
        halt: Option<&HaltReason>,
        now: Timestamp,
    ) -> Result<()> {
        let amount = BudgetAmount::delegated_job();
        let spent = if halt.is_some_and(HaltReason::is_excuse) { amount.without_billing() } else { amount };
        let settled = governor.settle(tx, self.reservation, &spent)?;
        // It waited for so long that what was set aside is forgotten.
        if settled == SettleOutcome::NotHeld && spent.interactions > 0 {
            match reserve(tx, governor, &self.by, now) {
                Ok(again) => governor.settle(tx, again, &spent)?,
                Err(Error::Safety(munshi_safety::Error::OverBudget(_))) => return Ok(()),
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }
}

/// Sets one conversation aside for the work.
pub(super) fn reserve(
    tx: &mut Tx<'_>,
    governor: &BudgetGovernor,
    by: &RunDelegator,
    now: Timestamp,
) -> Result<ReservationId> {
    let zone = tenants::find_zone(tx)?;
    let account =
        BudgetAccount { binding: by.binding, person: Some(by.person), lane: BudgetLane::People, zone };
    Ok(governor.reserve(tx, &account, &BudgetAmount::delegated_job(), now)?.id)
}
