//! Room for an act: how often tools may be called, and what a call costs.

use std::time::Duration;

use munshi_store::Tx;
use munshi_types::{Money, ReservationId, Timestamp};

use super::services::ActServices;
use crate::budget::rate_quota::{self, RateDecision, RateQuota};
use crate::budget::{BudgetAccount, BudgetAmount, BudgetLane};
use crate::error::{Error, Result};
use crate::pipeline::{ExhaustedLimit, PolicyRequest, ProposalMode};

pub(super) enum ActCapacity {
    Taken(Option<ReservationId>),
    None(ExhaustedLimit),
}

/// Counts the call, and sets its cost aside where it has one.
pub(super) fn reserve(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    ask: &PolicyRequest<'_>,
    now: Timestamp,
) -> Result<ActCapacity> {
    let Some(tool) = &ask.tool else { return Ok(ActCapacity::Taken(None)) };
    let rates = ask.policy.rates;
    let mut buckets = vec![("tools", rates.calls_per_minute)];
    if tool.spec.effect.writes() {
        buckets.push(("tools that write", rates.writes_per_minute));
    }
    for (name, limit) in buckets {
        if let RateDecision::Wait(wait) = rate_quota::consume(tx, name, RateQuota::per_minute(limit), now)? {
            return Ok(ActCapacity::None(build_exhausted_limit(name, limit, wait, now)));
        }
    }
    match tool.spec.cost {
        // Trying out costs nothing, and so holds nothing that others could spend.
        Some(cost) if ask.wanted == ProposalMode::Act => reserve_cost(tx, act_services, ask, cost, now),
        _ => Ok(ActCapacity::Taken(None)),
    }
}

fn build_exhausted_limit(name: &str, limit: u32, wait: Duration, now: Timestamp) -> ExhaustedLimit {
    if limit == 0 {
        return ExhaustedLimit { which: format!("No calls to {name} are permitted."), frees_at: None };
    }
    let seconds = wait.as_secs().saturating_add(1);
    let which = format!("No more than {limit} calls a minute to {name}: free in {seconds} s.");
    ExhaustedLimit { which, frees_at: Some(now.plus(wait)) }
}

fn reserve_cost(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    ask: &PolicyRequest<'_>,
    cost: Money,
    now: Timestamp,
) -> Result<ActCapacity> {
    let caller = &ask.caller;
    let account = BudgetAccount {
        binding: caller.binding,
        person: caller.principal.person,
        lane: if caller.background { BudgetLane::Background } else { BudgetLane::People },
        zone: caller.zone.clone(),
    };
    match act_services.governor.reserve(tx, &account, &to_budget_amount(act_services, cost), now) {
        Ok(reserved) => Ok(ActCapacity::Taken(Some(reserved.id))),
        Err(Error::OverBudget(refused)) => Ok(ActCapacity::None(ExhaustedLimit {
            which: format!("{refused}."),
            frees_at: refused.frees.timestamp(),
        })),
        Err(error) => Err(error),
    }
}

/// What a tool says it costs, in the currency of the limits.
fn to_budget_amount(act_services: &ActServices, cost: Money) -> BudgetAmount {
    BudgetAmount::money(act_services.governor.settings().rates.to_dollars(cost))
}

pub(super) fn release(tx: &mut Tx<'_>, act_services: &ActServices, reservation: ReservationId) -> Result<()> {
    act_services.governor.release(tx, reservation)?;
    Ok(())
}

/// What was set aside is what it cost: a tool's price is fixed.
pub(super) fn settle(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    reservation: ReservationId,
    cost: Money,
) -> Result<()> {
    act_services.governor.settle(tx, reservation, &to_budget_amount(act_services, cost))?;
    Ok(())
}
