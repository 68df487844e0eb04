//! What is set aside and not yet settled, as rows.

use jiff::civil::Date;
use munshi_llm::pricing::Cost;
use munshi_store::{Tx, params};
use munshi_types::{ReservationId, RunId, Timestamp};

use super::account::{BudgetAccount, CounterSlot};
use super::amount::{BudgetAmount, BudgetFigures};
use super::counters::pad_to_six;
use super::reserve::Reservation;
use crate::error::Result;

/// A reservation to be written down.
pub(super) struct NewReservation<'a> {
    pub account: &'a BudgetAccount,
    /// Whose calls it is for, where whoever takes that up is to let it go.
    pub run: Option<RunId>,
    pub day: Date,
    pub asked: &'a BudgetFigures,
    pub reserved: Reservation,
}

/// What is set aside and still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenReservation {
    pub most: BudgetAmount,
    pub expires_at: Timestamp,
}

/// What stands aside under a reservation, as it was written down. None where it was settled or has expired: others may
/// have the room by now. Where the price was unknown, the money is that of the worst one.
pub fn find_reservation(
    tx: &mut Tx<'_>,
    id: ReservationId,
    now: Timestamp,
) -> Result<Option<OpenReservation>> {
    Ok(tx.optional(
        "SELECT interactions, jobs, tokens, money, expires_at FROM usage_reservations
         WHERE tenant_id = $1 AND id = $2 AND state = 'held' AND expires_at > $3",
        params![id, now],
        |row| {
            let whole = |place: usize| -> munshi_store::Result<u64> {
                Ok(row.get::<i64>(place)?.max(0).unsigned_abs())
            };
            let money = Some(Cost::from_micros(row.get(3)?));
            let most = BudgetAmount {
                interactions: whole(0)?,
                jobs: whole(1)?,
                tokens: whole(2)?,
                output: 0,
                money,
            };
            Ok(OpenReservation { most, expires_at: row.get(4)? })
        },
    )?)
}

/// Writes a reservation down whose room was held.
pub(super) fn add(tx: &mut Tx<'_>, new: &NewReservation<'_>) -> Result<()> {
    let (account, BudgetFigures([interactions, jobs, tokens, money])) = (new.account, new.asked);
    tx.execute(
        "INSERT INTO usage_reservations (tenant_id, id, lane, binding_id, person_id, day, interactions, jobs, tokens,
           money, state, expires_at, run_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'held', $11, $12)",
        params![
            new.reserved.id,
            account.lane.as_str(),
            account.binding,
            account.person,
            new.day.to_string(),
            interactions,
            jobs,
            tokens,
            money,
            new.reserved.expires_at,
            new.run
        ],
    )?;
    Ok(())
}

/// Holds room in all counters and writes the reservation down, or does neither: `counters::hold` and [`add`] as one
/// statement, which Postgres alone can do.
pub(super) fn hold_and_add(
    tx: &mut Tx<'_>,
    slots: &[CounterSlot],
    new: &NewReservation<'_>,
    stamp: i64,
) -> Result<bool> {
    let (keys, account, BudgetFigures([interactions, jobs, tokens, money])) =
        (pad_to_six(slots), new.account, new.asked);
    let count = i64::try_from(slots.len()).unwrap_or(i64::MAX);
    let added = tx.execute(
        "WITH rows AS MATERIALIZED (
           SELECT c.slot,
                  c.limits_from = $12::bigint
                    + coalesce((SELECT p.changes FROM usage_plans p WHERE p.tenant_id = $1), 0)
                  AND (c.limit_interactions IS NULL OR $8::bigint = 0
                       OR c.used_interactions + c.held_interactions + $8::bigint <= c.limit_interactions)
                  AND (c.limit_jobs IS NULL OR $9::bigint = 0
                       OR c.used_jobs + c.held_jobs + $9::bigint <= c.limit_jobs)
                  AND (c.limit_tokens IS NULL OR $10::bigint = 0
                       OR c.used_tokens + c.held_tokens + $10::bigint <= c.limit_tokens)
                  AND (c.limit_money IS NULL OR $11::bigint = 0
                       OR c.used_money + c.held_money + $11::bigint <= c.limit_money) AS fits
           FROM usage_counters c WHERE c.tenant_id = $1 AND c.slot IN ($2, $3, $4, $5, $6, $7)
           ORDER BY c.slot FOR UPDATE OF c),
         held AS (
           UPDATE usage_counters SET held_interactions = held_interactions + $8::bigint,
                  held_jobs = held_jobs + $9::bigint, held_tokens = held_tokens + $10::bigint,
                  held_money = held_money + $11::bigint
           FROM rows WHERE usage_counters.tenant_id = $1 AND usage_counters.slot = rows.slot
             AND $13::bigint = (SELECT count(*) FROM rows AS fitting WHERE fitting.fits)
           RETURNING usage_counters.slot)
         INSERT INTO usage_reservations (tenant_id, id, lane, binding_id, person_id, day, interactions, jobs, tokens,
           money, state, expires_at, run_id)
         SELECT $1, $14::uuid, $15::text, $16::uuid, $17::uuid, $18::text, $8::bigint, $9::bigint, $10::bigint,
           $11::bigint, 'held', $19::timestamptz, $20::uuid
         WHERE EXISTS (SELECT 1 FROM held)",
        params![
            keys[0],
            keys[1],
            keys[2],
            keys[3],
            keys[4],
            keys[5],
            interactions,
            jobs,
            tokens,
            money,
            stamp,
            count,
            new.reserved.id,
            account.lane.as_str(),
            account.binding,
            account.person,
            new.day.to_string(),
            new.reserved.expires_at,
            new.run
        ],
    )?;
    Ok(added > 0)
}
