//! The rows that count: one for each tenant, binding and person in each day and month.

use munshi_store::{Row, Tx, params};
use munshi_types::{Timestamp, Zone};

use super::account::{BudgetLane, CounterSlot};
use super::amount::{BudgetFigures, BudgetMeasure};
use super::plan::UsagePlan;
use super::settings::BudgetLimits;
use super::tenant_terms::parse_plan;
use crate::error::Result;

/// A row as it is now.
#[derive(Clone, Debug)]
pub(crate) struct BudgetCounter {
    pub(crate) slot: String,
    pub(crate) used: BudgetFigures,
    pub(crate) held: BudgetFigures,
    pub(crate) limits: BudgetLimits,
    /// Which settings and changes the limits are of.
    pub(crate) limits_from: i64,
    /// The tenant's plan, where it has one of its own.
    pub(crate) plan: Option<UsagePlan>,
}

impl BudgetCounter {
    /// Whether it has no room even if all that is held were given back.
    pub(crate) fn is_used_up(&self, asked: &BudgetFigures) -> bool {
        BudgetMeasure::ALL.into_iter().any(|measure| {
            let after = self.used.get(measure).saturating_add(asked.get(measure));
            asked.get(measure) > 0 && self.limits.0[measure as usize].is_some_and(|limit| after > limit)
        })
    }

    fn read(row: &Row<'_>) -> munshi_store::Result<Self> {
        Ok(Self {
            slot: row.get(0)?,
            limits_from: row.get(1)?,
            used: BudgetFigures([row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?]),
            held: BudgetFigures([row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?]),
            limits: BudgetLimits([row.get(10)?, row.get(11)?, row.get(12)?, row.get(13)?]),
            plan: parse_plan(row.get(14)?)?,
        })
    }
}

/// The six places a statement has for slots; where there are fewer, the last stands in the others too.
pub(crate) fn pad_to_six(slots: &[CounterSlot]) -> [&str; 6] {
    std::array::from_fn(|at| slots.get(at).or(slots.last()).map_or("", |slot| slot.key.as_str()))
}

/// Those of the slots that are there.
pub(crate) fn list(tx: &mut Tx<'_>, slots: &[CounterSlot]) -> Result<Vec<BudgetCounter>> {
    let keys = pad_to_six(slots);
    Ok(tx.all(
        "SELECT slot, limits_from, used_interactions, used_jobs, used_tokens, used_money, held_interactions, held_jobs,
                held_tokens, held_money, limit_interactions, limit_jobs, limit_tokens, limit_money,
                (SELECT p.plan FROM usage_plans p WHERE p.tenant_id = $1)
         FROM usage_counters WHERE tenant_id = $1 AND slot IN ($2, $3, $4, $5, $6, $7) ORDER BY slot",
        params![keys[0], keys[1], keys[2], keys[3], keys[4], keys[5]],
        BudgetCounter::read,
    )?)
}

/// Sets aside in all of the slots, or in none: all must be there, with limits as they are now, and have room for it.
/// A measure of which nothing is asked stands in nobody's way. The counters are locked in the order of their names.
pub(crate) fn hold(
    tx: &mut Tx<'_>,
    slots: &[CounterSlot],
    asked: &BudgetFigures,
    stamp: i64,
) -> Result<bool> {
    let (keys, BudgetFigures([interactions, jobs, tokens, money])) = (pad_to_six(slots), asked);
    let count = i64::try_from(slots.len()).unwrap_or(i64::MAX);
    let held = tx.execute(
        (
            "UPDATE usage_counters SET held_interactions = held_interactions + $8, held_jobs = held_jobs + $9,
                    held_tokens = held_tokens + $10, held_money = held_money + $11
             WHERE tenant_id = $1 AND slot IN ($2, $3, $4, $5, $6, $7) AND $13 = (
               SELECT count(*) FROM usage_counters c WHERE c.tenant_id = $1 AND c.slot IN ($2, $3, $4, $5, $6, $7)
                 AND c.limits_from = $12 + coalesce((SELECT p.changes FROM usage_plans p WHERE p.tenant_id = $1), 0)
                 AND (c.limit_interactions IS NULL OR $8 = 0
                      OR c.used_interactions + c.held_interactions + $8 <= c.limit_interactions)
                 AND (c.limit_jobs IS NULL OR $9 = 0 OR c.used_jobs + c.held_jobs + $9 <= c.limit_jobs)
                 AND (c.limit_tokens IS NULL OR $10 = 0 OR c.used_tokens + c.held_tokens + $10 <= c.limit_tokens)
                 AND (c.limit_money IS NULL OR $11 = 0 OR c.used_money + c.held_money + $11 <= c.limit_money))",
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
               ORDER BY c.slot FOR UPDATE OF c)
             UPDATE usage_counters SET held_interactions = held_interactions + $8, held_jobs = held_jobs + $9,
                    held_tokens = held_tokens + $10, held_money = held_money + $11
             FROM rows WHERE usage_counters.tenant_id = $1 AND usage_counters.slot = rows.slot
               AND $13::bigint = (SELECT count(*) FROM rows AS fitting WHERE fitting.fits)",
        ),
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
            count
        ],
    )?;
    Ok(held > 0)
}

/// Takes what was held out again and books what was used.
pub(crate) fn book(
    tx: &mut Tx<'_>,
    slots: &[CounterSlot],
    held: &BudgetFigures,
    used: &BudgetFigures,
    output: i64,
) -> Result<()> {
    let (keys, BudgetFigures(held), BudgetFigures(used)) = (pad_to_six(slots), held, used);
    tx.send(
        (
            "UPDATE usage_counters SET
               held_interactions = held_interactions - $8, held_jobs = held_jobs - $9,
               held_tokens = held_tokens - $10, held_money = held_money - $11,
               used_interactions = used_interactions + $12, used_jobs = used_jobs + $13,
               used_tokens = used_tokens + $14, used_money = used_money + $15, used_output = used_output + $16
             WHERE tenant_id = $1 AND slot IN ($2, $3, $4, $5, $6, $7)",
            "WITH rows AS MATERIALIZED (
               SELECT c.slot FROM usage_counters c WHERE c.tenant_id = $1 AND c.slot IN ($2, $3, $4, $5, $6, $7)
               ORDER BY c.slot FOR UPDATE OF c)
             UPDATE usage_counters SET
               held_interactions = held_interactions - $8, held_jobs = held_jobs - $9,
               held_tokens = held_tokens - $10, held_money = held_money - $11,
               used_interactions = used_interactions + $12, used_jobs = used_jobs + $13,
               used_tokens = used_tokens + $14, used_money = used_money + $15, used_output = used_output + $16
             FROM rows WHERE usage_counters.tenant_id = $1 AND usage_counters.slot = rows.slot",
        ),
        params![
            keys[0], keys[1], keys[2], keys[3], keys[4], keys[5], held[0], held[1], held[2], held[3], used[0],
            used[1], used[2], used[3], output
        ],
    )?;
    Ok(())
}

/// Makes a counter with its limits, or gives one that is there the limits of now.
pub(crate) fn refresh(
    tx: &mut Tx<'_>,
    lane: BudgetLane,
    slot: &CounterSlot,
    limits: &BudgetLimits,
    limits_from: i64,
    zone: &Zone,
) -> Result<()> {
    let ends_at: Timestamp = slot.ends_at(zone);
    let BudgetLimits([interactions, jobs, tokens, money]) = limits;
    tx.execute(
        "INSERT INTO usage_counters (tenant_id, slot, lane, scope, scope_id, period, starts_on, ends_at,
           used_interactions, used_jobs, used_tokens, used_output, used_money,
           held_interactions, held_jobs, held_tokens, held_money,
           limit_interactions, limit_jobs, limit_tokens, limit_money, limits_from)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0, 0, 0, 0, 0, 0, 0, $9, $10, $11, $12, $13)
         ON CONFLICT (tenant_id, slot) DO UPDATE SET limit_interactions = excluded.limit_interactions,
           limit_jobs = excluded.limit_jobs, limit_tokens = excluded.limit_tokens, limit_money = excluded.limit_money,
           limits_from = excluded.limits_from",
        params![
            slot.key,
            lane.as_str(),
            slot.scope.as_str(),
            slot.id,
            slot.period.as_str(),
            slot.starts_on.to_string(),
            ends_at,
            interactions,
            jobs,
            tokens,
            money,
            limits_from
        ],
    )?;
    Ok(())
}
