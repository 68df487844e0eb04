//! What is set aside and never settled: it stops counting by itself, and a sweep keeps the tables small.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::civil::Date;
use metrics::counter;
use munshi_store::{Db, PlatformScope, PlatformTx, Tx, across_tenants, params};
use munshi_types::{TenantId, Timestamp};

use super::account::{BudgetLane, CounterSlot};
use super::amount::BudgetFigures;
use super::counters;
use super::settings::BudgetSettings;
use super::settle::ClaimedReservation;
use crate::error::Result;

/// Keeping the books of all tenants.
pub const BUDGET: PlatformScope = PlatformScope::new("budget");

/// At most this many a step, so that no step holds the writer for long.
const STEP: i64 = 500;
/// How long what was spent under an expired reservation can still be booked.
const LATE: Duration = Duration::from_secs(7 * 86_400);
/// Clocks of nodes may differ by this much without anything being wrong.
const CLOCK_ERROR: Duration = Duration::from_secs(120);

/// When a reservation made under a clock that was far ahead would end is no time to wait for.
fn compute_expiry_horizon(settings: &BudgetSettings, now: Timestamp) -> Timestamp {
    now.plus(settings.hold.saturating_mul(2)).plus(CLOCK_ERROR)
}

/// Takes what has expired in the slots' lane and month out of the counters, where it is in the way of somebody. Those
/// that somebody is settling right now are left to them. The caller holds the month's first lock.
pub(crate) fn reclaim_month(
    tx: &mut Tx<'_>,
    lane: BudgetLane,
    slots: &[CounterSlot],
    settings: &BudgetSettings,
    now: Timestamp,
) -> Result<u64> {
    let Some(month) = slots.first().map(|slot| slot.starts_on) else { return Ok(0) };
    let mut reclaimed = 0;
    loop {
        let step = reclaim_step(tx, lane, month, now, compute_expiry_horizon(settings, now))?;
        reclaimed += step;
        if step < STEP.unsigned_abs() {
            return Ok(reclaimed);
        }
    }
}

fn reclaim_step(
    tx: &mut Tx<'_>,
    lane: BudgetLane,
    month: Date,
    now: Timestamp,
    absurd: Timestamp,
) -> Result<u64> {
    let (from, to) = (month.to_string(), month.last_of_month().to_string());
    let taken = tx.all(
        (
            "UPDATE usage_reservations SET state = 'expired' WHERE tenant_id = $1 AND state = 'held' AND id IN (
               SELECT r.id FROM usage_reservations r WHERE r.tenant_id = $1 AND r.state = 'held'
                 AND (r.expires_at <= $2 OR r.expires_at > $3) AND r.lane = $4 AND r.day >= $5 AND r.day <= $6
               LIMIT $7)
             RETURNING lane, binding_id, person_id, day, interactions, jobs, tokens, money, state",
            "WITH due AS MATERIALIZED (
               SELECT r.id FROM usage_reservations r WHERE r.tenant_id = $1 AND r.state = 'held'
                 AND (r.expires_at <= $2 OR r.expires_at > $3) AND r.lane = $4 AND r.day >= $5 AND r.day <= $6
               LIMIT $7 FOR UPDATE SKIP LOCKED)
             UPDATE usage_reservations SET state = 'expired' FROM due
             WHERE usage_reservations.tenant_id = $1 AND usage_reservations.id = due.id
             RETURNING lane, binding_id, person_id, day, interactions, jobs, tokens, money, state",
        ),
        params![now, absurd, lane.as_str(), from, to, STEP],
        ClaimedReservation::read,
    )?;
    let mut freed: BTreeMap<String, BudgetFigures> = BTreeMap::new();
    for one in &taken {
        for slot in one.slots() {
            freed.entry(slot.key).or_default().add(&one.held);
        }
    }
    for (slot, BudgetFigures([interactions, jobs, tokens, money])) in freed {
        tx.execute(
            "UPDATE usage_counters SET held_interactions = held_interactions - $3, held_jobs = held_jobs - $4,
                    held_tokens = held_tokens - $5, held_money = held_money - $6
             WHERE tenant_id = $1 AND slot = $2",
            params![slot, interactions, jobs, tokens, money],
        )?;
    }
    let count = taken.len() as u64;
    tx.after_commit(move || counter!("munshi_budget_expired_total").increment(count));
    Ok(count)
}

/// What a sweep found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct BudgetSweepReport {
    /// Reservations that nobody settled in time; they count no more.
    pub expired: u64,
    /// Expired ones that nobody has settled since: what they spent will not be booked.
    pub forgotten: u64,
    /// Days that are older than the books go back, and rates that are long full.
    pub removed: u64,
}

/// Keeps the tables small. Nothing waits for it: what has expired does not count either way.
pub async fn sweep(db: &Db, settings: &BudgetSettings, now: Timestamp) -> Result<BudgetSweepReport> {
    let absurd = compute_expiry_horizon(settings, now);
    let mut swept = BudgetSweepReport::default();
    loop {
        let due = db.platform(BUDGET).read(move |tx| list_expired_months(tx, now, absurd)).await?;
        let mut step = 0;
        for (tenant, lane, month) in due {
            step += db.write(tenant, move |tx| sweep_month(tx, lane, month, now, absurd)).await?;
        }
        swept.expired += step;
        if step == 0 {
            break;
        }
    }
    let (late, oldest) = (now.minus(LATE), now.minus(settings.keep));
    (swept.forgotten, swept.removed) =
        db.platform(BUDGET).write(move |tx| delete_old(tx, late, oldest, now)).await?;
    if swept.forgotten > 0 {
        tracing::warn!(
            count = swept.forgotten,
            "reservations expired unsettled; their spending is not recorded"
        );
    }
    Ok(swept)
}

/// Where something has expired: whose, in which lane and month.
fn list_expired_months(
    tx: &mut PlatformTx<'_>,
    now: Timestamp,
    absurd: Timestamp,
) -> Result<Vec<(TenantId, BudgetLane, Date)>> {
    let found = tx.all(
        across_tenants(
            "SELECT DISTINCT tenant_id, lane, substr(day, 1, 7) FROM usage_reservations
             WHERE state = 'held' AND (expires_at <= $1 OR expires_at > $2) LIMIT $3",
        ),
        params![now, absurd, STEP],
        |row| {
            let decode = munshi_store::Error::Decode;
            let month: String = row.get(2)?;
            let first =
                format!("{month}-01").parse().map_err(|_| decode(format!("`{month}` is not a month")))?;
            Ok((row.get(0)?, row.get::<String>(1)?.parse().map_err(decode)?, first))
        },
    )?;
    Ok(found)
}

fn sweep_month(
    tx: &mut Tx<'_>,
    lane: BudgetLane,
    month: Date,
    now: Timestamp,
    absurd: Timestamp,
) -> Result<u64> {
    // The month's first lock, as everybody takes it.
    let slots = super::account::build_slots(lane, None, None, month);
    counters::book(tx, &slots[..1], &BudgetFigures::default(), &BudgetFigures::default(), 0)?;
    reclaim_step(tx, lane, month, now, absurd)
}

fn delete_old(
    tx: &mut PlatformTx<'_>,
    late: Timestamp,
    oldest: Timestamp,
    now: Timestamp,
) -> Result<(u64, u64)> {
    let forgotten = tx.execute(
        across_tenants("DELETE FROM usage_reservations WHERE state = 'expired' AND expires_at < $1"),
        params![late],
    )?;
    let days = tx.execute(
        across_tenants("DELETE FROM usage_counters WHERE period = 'day' AND ends_at < $1"),
        params![oldest],
    )?;
    let rates = tx.execute(
        across_tenants("DELETE FROM usage_rates WHERE full_at < $1"),
        params![now.minus(LATE).as_micros()],
    )?;
    Ok((forgotten, days + rates))
}
