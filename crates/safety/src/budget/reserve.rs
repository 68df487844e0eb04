//! Setting aside the most that something may use, before it is done.
//!
//! The usual way is one statement that raises what is held in every counter at once if all of them have room, and one
//! that writes the reservation down; on Postgres these are one. Only where that finds no room does anybody look closer: the day may be new, the
//! limits may have changed, somebody's reservation may have expired.

use munshi_store::{Tx, params};
use munshi_types::{IdGenerator, ReservationId, RunId, Timestamp};

use super::account::{BudgetAccount, CounterSlot, build_slots};
use super::amount::{BudgetAmount, BudgetFigures, BudgetMeasure};
use super::counters::{self, BudgetCounter};
use super::expire;
use super::plan::UsagePlan;
use super::refusal::{BudgetRefusal, BudgetRelease};
use super::reservations::{self, NewReservation};
use super::settings::BudgetSettings;
use super::tenant_terms::{BudgetLimitSubject, TenantBudgetTerms};
use crate::error::{Error, Result};

/// Decides what may be spent. One for the program; clones share nothing but what they were made of.
#[derive(Clone, Debug)]
pub struct BudgetGovernor {
    pub(crate) settings: BudgetSettings,
    pub(crate) ids: IdGenerator,
    /// Which settings these are, for counters to know.
    stamp: i64,
}

/// What was set aside. It is settled, released, or expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub id: ReservationId,
    pub expires_at: Timestamp,
}

impl BudgetGovernor {
    pub fn new(settings: BudgetSettings, ids: IdGenerator) -> Self {
        let stamp = settings.stamp();
        Self { settings, ids, stamp }
    }

    pub fn settings(&self) -> &BudgetSettings {
        &self.settings
    }

    /// Sets the most aside in the caller's own transaction: no limit of tenant, binding or person is ever passed,
    /// whoever else asks at the same moment. A refusal is [`Error::OverBudget`] and leaves the transaction usable.
    ///
    /// On Postgres this locks counters, so it comes first in a transaction: quota, then run, then audit last.
    pub fn reserve(
        &self,
        tx: &mut Tx<'_>,
        account: &BudgetAccount,
        most: &BudgetAmount,
        now: Timestamp,
    ) -> Result<Reservation> {
        self.reserve_for(tx, (account, None), most, now)
    }

    /// The same for a call that a run makes: what its process leaves behind is [let go](Self::let_go) by whoever takes
    /// the run up.
    pub fn reserve_for(
        &self,
        tx: &mut Tx<'_>,
        (account, run): (&BudgetAccount, Option<RunId>),
        most: &BudgetAmount,
        now: Timestamp,
    ) -> Result<Reservation> {
        let day = account.day(now);
        let slots = build_slots(account.lane, account.binding, account.person, day);
        let asked = most.figures(&self.settings.rates);
        let reserved = Reservation { id: self.ids.next(), expires_at: now.plus(self.settings.hold) };
        let new = NewReservation { account, run, day, asked: &asked, reserved };
        // One round trip less where one statement can write to both tables.
        if tx.engine() == "postgres" {
            if reservations::hold_and_add(tx, &slots, &new, self.stamp)? {
                return Ok(reserved);
            }
            self.retry_after_refresh(tx, account, &slots, &asked, now)?;
        } else if !counters::hold(tx, &slots, &asked, self.stamp)? {
            self.retry_after_refresh(tx, account, &slots, &asked, now)?;
        }
        reservations::add(tx, &new)?;
        Ok(reserved)
    }

    /// Brings the counters up to date and tries again, or says what stands in the way.
    fn retry_after_refresh(
        &self,
        tx: &mut Tx<'_>,
        account: &BudgetAccount,
        slots: &[CounterSlot],
        asked: &BudgetFigures,
        now: Timestamp,
    ) -> Result<()> {
        self.refresh(tx, account, slots)?;
        if counters::hold(tx, slots, asked, self.stamp)? {
            return Ok(());
        }
        let mut found = counters::list(tx, slots)?;
        // What is used frees nothing before its day or month ends; what is held may have expired.
        let is_used_up = found.iter().any(|counter| counter.is_used_up(asked));
        if !is_used_up && expire::reclaim_month(tx, account.lane, slots, &self.settings, now)? > 0 {
            if counters::hold(tx, slots, asked, self.stamp)? {
                return Ok(());
            }
            found = counters::list(tx, slots)?;
        }
        let what = Asked { account, slots, asked, now, default_plan: self.settings.plan };
        match what.find_refusal(tx, &found)? {
            Some(refused) => Err(Error::OverBudget(Box::new(refused))),
            // Another has freed it between two looks.
            None if counters::hold(tx, slots, asked, self.stamp)? => Ok(()),
            None => {
                Err(munshi_store::Error::Busy("the budget changed concurrently: retry".to_owned()).into())
            }
        }
    }

    /// Makes the counters that are not there yet, and gives all of them the limits of now.
    ///
    /// The tenant's month comes first and is written in any case: only its lock lets one of many who begin a day make
    /// the others. Who saw it made by another and went straight for their own would hold those and wait for it.
    pub(super) fn refresh(
        &self,
        tx: &mut Tx<'_>,
        account: &BudgetAccount,
        slots: &[CounterSlot],
    ) -> Result<()> {
        let terms = TenantBudgetTerms::load(tx)?;
        let limits_from = self.stamp.saturating_add(terms.changes);
        let write = |tx: &mut Tx<'_>, slot: &CounterSlot| {
            let limits = terms.limits(&self.settings, account.lane, slot);
            counters::refresh(tx, account.lane, slot, &limits, limits_from, &account.zone)
        };
        let Some((first, others)) = slots.split_first() else { return Ok(()) };
        write(tx, first)?;
        let found = counters::list(tx, others)?;
        for slot in others {
            let known = found.iter().find(|counter| counter.slot == slot.key);
            if known.is_none_or(|counter| counter.limits_from != limits_from) {
                write(tx, slot)?;
            }
        }
        Ok(())
    }
}

struct Asked<'a> {
    account: &'a BudgetAccount,
    slots: &'a [CounterSlot],
    asked: &'a BudgetFigures,
    now: Timestamp,
    default_plan: UsagePlan,
}

impl Asked<'_> {
    /// Of all limits in the way, the one that frees last.
    fn find_refusal(&self, tx: &mut Tx<'_>, found: &[BudgetCounter]) -> Result<Option<BudgetRefusal>> {
        let is_used_up = found.iter().any(|counter| counter.is_used_up(self.asked));
        let under_way = if is_used_up { None } else { self.find_next_expiry(tx)? };
        let refused = self.slots.iter().flat_map(|slot| {
            let counter = found.iter().find(|counter| counter.slot == slot.key);
            counter.into_iter().flat_map(move |counter| self.list_exceeded(slot, counter, under_way))
        });
        Ok(refused.max_by_key(|refused| refused.frees))
    }

    /// When the next of what is held will have expired.
    fn find_next_expiry(&self, tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
        Ok(tx.one(
            "SELECT min(expires_at) FROM usage_reservations WHERE tenant_id = $1 AND state = 'held' AND expires_at > $2",
            params![self.now],
            |row| row.get(0),
        )?)
    }

    fn list_exceeded(
        &self,
        slot: &CounterSlot,
        counter: &BudgetCounter,
        under_way: Option<Timestamp>,
    ) -> impl Iterator<Item = BudgetRefusal> {
        let ends_at = slot.ends_at(&self.account.zone);
        BudgetMeasure::ALL.into_iter().filter_map(move |measure| {
            let (used, held) = (counter.used.get(measure), counter.held.get(measure));
            let asked = self.asked.get(measure);
            let limit = counter.limits.0[measure as usize]
                .filter(|limit| asked > 0 && used + held + asked > *limit)?;
            let frees = match under_way {
                _ if asked > limit => BudgetRelease::Never,
                Some(at) if used + asked <= limit => BudgetRelease::UnderWay(at.min(ends_at)),
                _ => BudgetRelease::PeriodEnds(ends_at),
            };
            let (lane, scope, period) = (self.account.lane, slot.scope, slot.period);
            let on = BudgetLimitSubject {
                lane,
                scope,
                id: (!slot.id.is_nil()).then_some(slot.id),
                period,
                measure,
            };
            let zone = self.account.zone.clone();
            let plan = counter.plan.unwrap_or(self.default_plan);
            Some(BudgetRefusal { on, limit, used, held, asked, frees, plan, zone })
        })
    }
}
