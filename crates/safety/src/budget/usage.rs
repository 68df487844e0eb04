//! Reading the ledger: what was used, and what is left of each limit.

use munshi_store::{Row, Tx, params};
use munshi_types::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::account::{BudgetAccount, BudgetLane, BudgetPeriod, BudgetScope, build_slots};
use super::amount::{BudgetFigures, BudgetMeasure};
use super::counters;
use super::settings::BudgetSettings;
use super::tenant_terms::{BudgetLimitSubject, TenantBudgetTerms};
use crate::error::Result;

/// How the ledger is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageDimension {
    #[default]
    Day,
    Binding,
    Person,
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageTotals {
    pub interactions: i64,
    pub jobs: i64,
    /// Both read and written.
    pub tokens: i64,
    /// Written by models.
    pub output_tokens: i64,
    /// Millionths of a dollar.
    pub money: i64,
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsageLine {
    pub lane: BudgetLane,
    /// By day: which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// By binding or person: which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    #[serde(flatten)]
    pub used: UsageTotals,
}

/// What was used since a day (`2026-11-01`, in the tenant's zone), the newest or the dearest first.
pub fn list_usage(tx: &mut Tx<'_>, since: &str, by: UsageDimension) -> Result<Vec<UsageLine>> {
    let (scope, sql) = match by {
        UsageDimension::Day => (
            BudgetScope::Tenant,
            "SELECT lane, starts_on, NULL, used_interactions, used_jobs, used_tokens, used_output, used_money
             FROM usage_counters
             WHERE tenant_id = $1 AND period = 'day' AND scope = $2 AND starts_on >= $3
             ORDER BY starts_on DESC, lane DESC",
        ),
        UsageDimension::Binding | UsageDimension::Person => (
            if by == UsageDimension::Binding { BudgetScope::Binding } else { BudgetScope::Person },
            "SELECT lane, NULL, scope_id, CAST(sum(used_interactions) AS BIGINT), CAST(sum(used_jobs) AS BIGINT),
                    CAST(sum(used_tokens) AS BIGINT), CAST(sum(used_output) AS BIGINT),
                    CAST(sum(used_money) AS BIGINT) AS money
             FROM usage_counters
             WHERE tenant_id = $1 AND period = 'day' AND scope = $2 AND starts_on >= $3
             GROUP BY scope_id, lane ORDER BY money DESC, scope_id, lane DESC",
        ),
    };
    Ok(tx.all(sql, params![scope.as_str(), since], line)?)
}

fn line(row: &Row<'_>) -> munshi_store::Result<UsageLine> {
    Ok(UsageLine {
        lane: row.get::<String>(0)?.parse().map_err(munshi_store::Error::Decode)?,
        day: row.get(1)?,
        id: row.get(2)?,
        used: UsageTotals {
            interactions: row.get(3)?,
            jobs: row.get(4)?,
            tokens: row.get(5)?,
            output_tokens: row.get(6)?,
            money: row.get(7)?,
        },
    })
}

/// How a limit stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetLimitStatus {
    #[serde(flatten)]
    pub on: BudgetLimitSubject,
    pub limit: i64,
    pub used: i64,
    /// Set aside and not expired.
    pub held: i64,
    /// Never below nothing, also where a limit was lowered below what is used.
    pub left: i64,
    pub ends_at: Timestamp,
}

/// The limits of an account as they are now, also where nothing was used yet: its tenant's, and its binding's and
/// person's where it names them.
pub fn list_limit_statuses(
    tx: &mut Tx<'_>,
    settings: &BudgetSettings,
    account: &BudgetAccount,
    now: Timestamp,
) -> Result<Vec<BudgetLimitStatus>> {
    let slots = build_slots(account.lane, account.binding, account.person, account.day(now));
    let terms = TenantBudgetTerms::load(tx)?;
    let found = counters::list(tx, &slots)?;
    let mut standings = Vec::new();
    for slot in &slots {
        let counter = found.iter().find(|counter| counter.slot == slot.key);
        let used = counter.map_or_else(BudgetFigures::default, |counter| counter.used);
        let expired = match counter {
            Some(counter) if counter.held != BudgetFigures::default() => {
                sum_expired(tx, account.lane, slot, now)?
            }
            _ => BudgetFigures::default(),
        };
        let held = counter.map_or_else(BudgetFigures::default, |counter| counter.held);
        let limits = terms.limits(settings, account.lane, slot);
        for measure in BudgetMeasure::ALL {
            let Some(limit) = limits.0[measure as usize] else { continue };
            let (used, held) = (used.get(measure), held.get(measure) - expired.get(measure));
            let (lane, scope, period) = (account.lane, slot.scope, slot.period);
            let on = BudgetLimitSubject {
                lane,
                scope,
                id: (!slot.id.is_nil()).then_some(slot.id),
                period,
                measure,
            };
            let (left, ends_at) = ((limit - used - held).max(0), slot.ends_at(&account.zone));
            standings.push(BudgetLimitStatus { on, limit, used, held, left, ends_at });
        }
    }
    Ok(standings)
}

/// What stands in a counter as held though it has expired.
fn sum_expired(
    tx: &mut Tx<'_>,
    lane: BudgetLane,
    slot: &super::account::CounterSlot,
    now: Timestamp,
) -> Result<BudgetFigures> {
    let first = slot.starts_on.to_string();
    let last = match slot.period {
        BudgetPeriod::Day => first.clone(),
        BudgetPeriod::Month => slot.starts_on.last_of_month().to_string(),
    };
    Ok(tx.one(
        "SELECT CAST(coalesce(sum(interactions), 0) AS BIGINT), CAST(coalesce(sum(jobs), 0) AS BIGINT),
                CAST(coalesce(sum(tokens), 0) AS BIGINT), CAST(coalesce(sum(money), 0) AS BIGINT)
         FROM usage_reservations
         WHERE tenant_id = $1 AND state = 'held' AND expires_at <= $2 AND lane = $3 AND day >= $4 AND day <= $5
           AND ($6 = 'tenant' OR ($6 = 'binding' AND binding_id = $7) OR ($6 = 'person' AND person_id = $7))",
        params![now, lane.as_str(), first, last, slot.scope.as_str(), slot.id],
        |row| Ok(BudgetFigures([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])),
    )?)
}

/// How many reservations expired that nobody has settled since, and what they had set aside at most.
pub fn sum_unsettled(tx: &mut Tx<'_>, now: Timestamp) -> Result<(i64, UsageTotals)> {
    Ok(tx.one(
        "SELECT count(*), CAST(coalesce(sum(interactions), 0) AS BIGINT), CAST(coalesce(sum(jobs), 0) AS BIGINT),
                CAST(coalesce(sum(tokens), 0) AS BIGINT), CAST(coalesce(sum(money), 0) AS BIGINT)
         FROM usage_reservations WHERE tenant_id = $1 AND (state = 'expired' OR expires_at <= $2)",
        params![now],
        |row| {
            let most = UsageTotals {
                interactions: row.get(1)?,
                jobs: row.get(2)?,
                tokens: row.get(3)?,
                output_tokens: 0,
                money: row.get(4)?,
            };
            Ok((row.get(0)?, most))
        },
    )?)
}
