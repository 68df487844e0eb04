//! Replacing what was set aside by the truth, once.

use jiff::civil::Date;
use munshi_store::{Row, Tx, params};
use munshi_types::{BindingId, PersonId, ReservationId, RunId, Timestamp};

use super::account::{BudgetAccount, BudgetLane, CounterSlot, build_slots};
use super::amount::{BudgetAmount, BudgetFigures};
use super::counters;
use super::reserve::BudgetGovernor;
use crate::error::Result;

/// What became of settling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    Now,
    /// It had expired, so others may have used the room meanwhile; what was spent is booked all the same.
    Late,
    /// It was settled or released before, or expired so long ago that it is forgotten: nothing was booked.
    NotHeld,
}

impl BudgetGovernor {
    /// Books what was spent, also where it is more than was set aside, in the day in which it was set aside. Done again,
    /// it books nothing.
    pub fn settle(&self, tx: &mut Tx<'_>, id: ReservationId, spent: &BudgetAmount) -> Result<SettleOutcome> {
        let Some(taken) = ClaimedReservation::claim(tx, id)? else { return Ok(SettleOutcome::NotHeld) };
        let (settled, held) = match taken.state {
            ReservationState::Held => (SettleOutcome::Now, taken.held),
            ReservationState::Expired => (SettleOutcome::Late, BudgetFigures::default()),
        };
        let used = spent.figures(&self.settings.rates);
        counters::book(tx, &taken.slots(), &held, &used, spent.output_tokens())?;
        Ok(settled)
    }

    /// Books what was spent though nothing is set aside for it any more, past every limit: it is done, and cannot be refused.
    pub fn book_unreserved(
        &self,
        tx: &mut Tx<'_>,
        account: &BudgetAccount,
        spent: &BudgetAmount,
        now: Timestamp,
    ) -> Result<()> {
        let slots = build_slots(account.lane, account.binding, account.person, account.day(now));
        self.refresh(tx, account, &slots)?;
        let used = spent.figures(&self.settings.rates);
        counters::book(tx, &slots, &BudgetFigures::default(), &used, spent.output_tokens())
    }

    /// Gives all of it back: what it was for was not done.
    pub fn release(&self, tx: &mut Tx<'_>, id: ReservationId) -> Result<SettleOutcome> {
        self.settle(tx, id, &BudgetAmount::NOTHING)
    }

    /// Lets go of what was set aside for calls of a run by a process that is thought dead. Nobody can tell what they
    /// cost; where it was only slow, it can still book that.
    pub fn release_run(&self, tx: &mut Tx<'_>, run: RunId) -> Result<usize> {
        let left = tx.all(
            "UPDATE usage_reservations SET state = 'expired' WHERE tenant_id = $1 AND run_id = $2 AND state = 'held'
             RETURNING lane, binding_id, person_id, day, interactions, jobs, tokens, money, state",
            params![run],
            ClaimedReservation::read,
        )?;
        for one in &left {
            counters::book(tx, &one.slots(), &one.held, &BudgetFigures::default(), 0)?;
        }
        Ok(left.len())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReservationState {
    Held,
    Expired,
}

/// A reservation that is ours to end, since we have its row.
pub(crate) struct ClaimedReservation {
    pub(crate) lane: BudgetLane,
    binding: Option<BindingId>,
    person: Option<PersonId>,
    day: Date,
    pub(crate) held: BudgetFigures,
    pub(crate) state: ReservationState,
}

/// Whether anything is set aside for calls of a run.
pub fn has_open_reservations(tx: &mut Tx<'_>, run: RunId) -> Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM usage_reservations WHERE tenant_id = $1 AND run_id = $2 AND state = 'held' LIMIT 1",
        params![run],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

impl ClaimedReservation {
    fn claim(tx: &mut Tx<'_>, id: ReservationId) -> Result<Option<Self>> {
        Ok(tx.optional(
            "DELETE FROM usage_reservations WHERE tenant_id = $1 AND id = $2
             RETURNING lane, binding_id, person_id, day, interactions, jobs, tokens, money, state",
            params![id],
            Self::read,
        )?)
    }

    /// Columns in the order of the statement above.
    pub(crate) fn read(row: &Row<'_>) -> munshi_store::Result<Self> {
        let decode = munshi_store::Error::Decode;
        let day: String = row.get(3)?;
        Ok(Self {
            lane: row.get::<String>(0)?.parse().map_err(decode)?,
            binding: row.get(1)?,
            person: row.get(2)?,
            day: day.parse().map_err(|error| decode(format!("`{day}` is not a day: {error}")))?,
            held: BudgetFigures([row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?]),
            state: if row.get::<String>(8)? == "held" {
                ReservationState::Held
            } else {
                ReservationState::Expired
            },
        })
    }

    pub(crate) fn slots(&self) -> Vec<CounterSlot> {
        build_slots(self.lane, self.binding, self.person, self.day)
    }
}
