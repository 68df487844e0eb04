//! A tenant's plan and its own limits, as the store keeps them.

use munshi_store::{AdminTx, Row, Tx, params};
use munshi_types::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::account::{BudgetLane, BudgetPeriod, BudgetScope, CounterSlot};
use super::amount::BudgetMeasure;
use super::plan::UsagePlan;
use super::settings::{BudgetLimits, BudgetSettings};
use crate::error::{Error, Result};

/// What a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetLimitSubject {
    pub lane: BudgetLane,
    pub scope: BudgetScope,
    /// One binding or person; none is each of them.
    pub id: Option<Uuid>,
    pub period: BudgetPeriod,
    pub measure: BudgetMeasure,
}

/// What a tenant's own limit is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetLimitValue {
    /// In the measure's unit: money in millionths of a dollar.
    AtMost(u64),
    /// None, whatever plan and settings say.
    Unlimited,
    /// As plan and settings say.
    Default,
}

/// All that decides about a tenant's limits.
#[derive(Clone, Debug, Default)]
pub(crate) struct TenantBudgetTerms {
    plan: Option<UsagePlan>,
    /// Goes up with every change.
    pub(crate) changes: i64,
    own: Vec<Own>,
}

#[derive(Clone, Copy, Debug)]
struct Own {
    on: BudgetLimitSubject,
    amount: Option<i64>,
}

impl TenantBudgetTerms {
    pub(crate) fn load(tx: &mut Tx<'_>) -> Result<Self> {
        let plan = tx.optional("SELECT plan, changes FROM usage_plans WHERE tenant_id = $1", &[], |row| {
            Ok((parse_plan(row.get(0)?)?, row.get(1)?))
        })?;
        let Some((plan, changes)) = plan else { return Ok(Self::default()) };
        let own = tx.all(
            "SELECT lane, scope, scope_id, period, measure, amount FROM usage_limits WHERE tenant_id = $1",
            &[],
            Own::read,
        )?;
        Ok(Self { plan, changes, own })
    }

    pub(crate) fn plan(&self, settings: &BudgetSettings) -> UsagePlan {
        self.plan.unwrap_or(settings.plan)
    }

    /// What holds for a slot: the tenant's own word for that one binding or person, else for all of them, else what
    /// plan and settings say.
    pub(crate) fn limits(
        &self,
        settings: &BudgetSettings,
        lane: BudgetLane,
        slot: &CounterSlot,
    ) -> BudgetLimits {
        let mut limits = settings.limits(self.plan(settings), lane, slot.scope, slot.period);
        let matching =
            |own: &&Own| own.on.lane == lane && own.on.scope == slot.scope && own.on.period == slot.period;
        for narrow in [None, Some(slot.id)] {
            for own in self.own.iter().filter(matching).filter(|own| own.on.id == narrow) {
                limits.0[own.on.measure as usize] = own.amount;
            }
        }
        limits
    }
}

pub(crate) fn parse_plan(text: Option<String>) -> munshi_store::Result<Option<UsagePlan>> {
    text.map(|plan| plan.parse().map_err(munshi_store::Error::Decode)).transpose()
}

impl Own {
    fn read(row: &Row<'_>) -> munshi_store::Result<Self> {
        let decode = munshi_store::Error::Decode;
        let id: Uuid = row.get("scope_id")?;
        Ok(Self {
            on: BudgetLimitSubject {
                lane: row.get::<String>("lane")?.parse().map_err(decode)?,
                scope: row.get::<String>("scope")?.parse().map_err(decode)?,
                id: (!id.is_nil()).then_some(id),
                period: row.get::<String>("period")?.parse().map_err(decode)?,
                measure: row.get::<String>("measure")?.parse().map_err(decode)?,
            },
            amount: row.get("amount")?,
        })
    }
}

/// The tenant's plan; the installation's default where it has none of its own.
pub fn load_plan(tx: &mut Tx<'_>, settings: &BudgetSettings) -> Result<UsagePlan> {
    Ok(TenantBudgetTerms::load(tx)?.plan(settings))
}

/// What was set for the tenant, its bindings and its people, beside plan and settings.
pub fn list_own_limits(tx: &mut Tx<'_>) -> Result<Vec<(BudgetLimitSubject, BudgetLimitValue)>> {
    let own = tx.all(
        "SELECT lane, scope, scope_id, period, measure, amount FROM usage_limits WHERE tenant_id = $1
         ORDER BY scope, scope_id, lane, period, measure",
        &[],
        Own::read,
    )?;
    let value = |amount: Option<i64>| match amount.map(u64::try_from) {
        Some(Ok(amount)) => BudgetLimitValue::AtMost(amount),
        Some(Err(_)) => BudgetLimitValue::AtMost(0),
        None => BudgetLimitValue::Unlimited,
    };
    Ok(own.into_iter().map(|own| (own.on, value(own.amount))).collect())
}

/// Holds from the next reservation on; what was used this month stays used. None goes back to the default.
pub fn set_plan(tx: &mut AdminTx<'_, '_>, plan: Option<UsagePlan>, now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO usage_plans (tenant_id, plan, changes, changed_at) VALUES ($1, $2, 1, $3)
         ON CONFLICT (tenant_id) DO UPDATE SET plan = excluded.plan, changes = usage_plans.changes + 1,
           changed_at = excluded.changed_at",
        params![plan.map(UsagePlan::as_str), now],
    )?;
    Ok(())
}

/// Holds from the next reservation on, also below what is used already.
pub fn set_limit(
    tx: &mut AdminTx<'_, '_>,
    on: BudgetLimitSubject,
    to: BudgetLimitValue,
    now: Timestamp,
) -> Result<()> {
    let is_ceiling = on.scope == BudgetScope::Tenant
        && on.period == BudgetPeriod::Month
        && on.measure == BudgetMeasure::Money;
    if is_ceiling && to == BudgetLimitValue::Unlimited {
        let text = "a tenant always has a monthly money limit: raise it instead";
        return Err(Error::Invalid(text.to_owned()));
    }
    if on.scope == BudgetScope::Tenant && on.id.is_some() {
        return Err(Error::Invalid("a tenant's limit takes no binding and no person".to_owned()));
    }
    record_change(tx, now)?;
    let id = on.id.unwrap_or_else(Uuid::nil);
    let key = (on.lane.as_str(), on.scope.as_str(), on.period.as_str(), on.measure.as_str());
    tx.execute(
        "DELETE FROM usage_limits WHERE tenant_id = $1 AND lane = $2 AND scope = $3 AND scope_id = $4 AND period = $5
           AND measure = $6",
        params![key.0, key.1, id, key.2, key.3],
    )?;
    let amount = match to {
        BudgetLimitValue::Default => return Ok(()),
        BudgetLimitValue::Unlimited => None,
        BudgetLimitValue::AtMost(amount) => Some(i64::try_from(amount).unwrap_or(i64::MAX).min(1 << 60)),
    };
    tx.execute(
        "INSERT INTO usage_limits (tenant_id, lane, scope, scope_id, period, measure, amount)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        params![key.0, key.1, id, key.2, key.3, amount],
    )?;
    Ok(())
}

/// So that every counter takes its limits anew.
fn record_change(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO usage_plans (tenant_id, plan, changes, changed_at) VALUES ($1, NULL, 1, $2)
         ON CONFLICT (tenant_id) DO UPDATE SET changes = usage_plans.changes + 1, changed_at = excluded.changed_at",
        params![now],
    )?;
    Ok(())
}
