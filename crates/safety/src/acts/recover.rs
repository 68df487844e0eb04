//! Acts whose process died between intent and result.

use std::time::Duration;

use munshi_store::{PlatformScope, PlatformTx, Tx, across_tenants, params};
use munshi_types::{ActId, Autonomy, Effect, Money, TenantId, TenantStatus, Timestamp};
use serde_json::json;

use super::limits;
use super::permit::{Permit, PermitMode, PermitTerm};
use super::services::ActServices;
use super::store::{self, Act, ActState};
use super::unasked;
use crate::approvals;
use crate::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::consents;
use crate::error::Result;
use crate::pipeline::CompiledTool;

/// How long a tool may take that is no longer installed.
const GONE: Duration = Duration::from_secs(1);

/// A key is not relied on for longer: others forget it after a day, and what was meant then may not be meant now.
const LONGEST_AGE: Duration = Duration::from_secs(6 * 3600);

/// So often an act is tried, the first time included. Each try is committed before its call, so one that ends every process
/// that makes it comes to an end as well.
const MOST_ATTEMPTS: i64 = 4;

/// The code of what broke off with its process.
pub(super) const INTERRUPTED: &str = "interrupted";

/// An act past its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LapsedAct {
    pub tenant: TenantId,
    pub act: ActId,
}

/// On what ground an act is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeoverReason {
    /// Its lease has passed.
    Lapsed,
    /// The new holder of its run takes it over. The first attempt was the dead holder's; a later one may belong to a sweep
    /// of another node, so its lease has to expire first.
    RunResumed,
    /// No other process can be working on it, whatever its lease says.
    SoleProcess,
}

impl TakeoverReason {
    pub(super) const fn ignores_lease(self, attempt: i64) -> bool {
        match self {
            Self::Lapsed => false,
            Self::RunResumed => attempt == 1,
            Self::SoleProcess => true,
        }
    }
}

/// What may be done about it.
#[derive(Debug)]
pub enum ActRecovery {
    /// Call again: looking is harmless, or the key makes it so.
    Retry(Permit),
    /// Look first whether it happened, then call again if it did not.
    LookUp(Permit),
    /// Never again: it is marked unknown, and a person is asked.
    MarkedUnknown,
    /// Never again: it only looked, so it failed.
    MarkedFailed,
    /// Somebody else has it, or it has ended.
    NotOurs,
}

/// The oldest acts past their lease, of all tenants that are active: what a paused one left waits with it.
pub fn list_lapsed(tx: &mut PlatformTx<'_>, most: u32, now: Timestamp) -> Result<Vec<LapsedAct>> {
    Ok(tx.all(
        across_tenants(
            "SELECT l.tenant_id, l.act_id FROM act_leases l JOIN tenants t ON t.id = l.tenant_id
             WHERE l.lease_until <= $1 AND t.status = 'active' ORDER BY l.lease_until LIMIT $2",
        ),
        params![now, most],
        |row| Ok(LapsedAct { tenant: row.get(0)?, act: row.get(1)? }),
    )?)
}

/// All acts under way, of all tenants that are active: for the one process there is, when it starts.
pub fn list_leased(tx: &mut PlatformTx<'_>, most: u32) -> Result<Vec<LapsedAct>> {
    Ok(tx.all(
        across_tenants(
            "SELECT l.tenant_id, l.act_id FROM act_leases l JOIN tenants t ON t.id = l.tenant_id
             WHERE t.status = 'active' ORDER BY l.lease_until LIMIT $1",
        ),
        params![most],
        |row| Ok(LapsedAct { tenant: row.get(0)?, act: row.get(1)? }),
    )?)
}

/// The door through which lapsed acts and approvals are found.
pub const ACTS: PlatformScope = PlatformScope::new("acts");

/// Takes an act over, for as long as its tool may take.
pub fn recover(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    (id, left): (ActId, TakeoverReason),
    tool: Option<&CompiledTool>,
    now: Timestamp,
) -> Result<ActRecovery> {
    let Some(mut act) = store::find(tx, id)?.filter(|act| !act.rests_on.is_forgotten()) else {
        return Ok(ActRecovery::NotOurs);
    };
    if act.state == ActState::Rehearsing {
        let nothing = json!({ "ok": false, "code": INTERRUPTED, "retryable": true });
        store::end(tx, id, ActState::Rehearsing, ActState::Rehearsed, Some(&nothing), None, now)?;
        return Ok(ActRecovery::NotOurs);
    }
    // It may have been paused since the act was found: what it left waits with it.
    if act_services.load_tenant_status(tx)? != TenantStatus::Active {
        return Ok(ActRecovery::NotOurs);
    }
    let timeout = tool.map_or(GONE, |tool| tool.spec.timeout);
    let cost = tool.and_then(|tool| tool.spec.cost);
    let until = now.plus(ActServices::lease(timeout));
    if act.state != ActState::Intended || !store::renew_lease(tx, &act, left, until, now)? {
        return Ok(ActRecovery::NotOurs);
    }
    // Its tool may be one by now of whose words nothing is kept.
    let is_marked = tool.is_some_and(|tool| tool.spec.transient) && !act.effect.writes();
    if is_marked && !act.is_transient {
        store::mark_transient(tx, id)?;
        act.is_transient = true;
    }
    if act.attempt >= MOST_ATTEMPTS {
        tracing::error!(act = %act.id, tool = act.tool, attempts = act.attempt, "act given up; it never came to an end");
        return match act.effect.writes() {
            true => mark_unknown(tx, act_services, &act, cost, now),
            false => mark_failed(tx, act_services, &act, now),
        };
    }
    // Nobody who could hear it waits for this one: whoever goes on with the turn asks anew.
    if act.is_transient {
        return mark_failed(tx, act_services, &act, now);
    }
    if !is_still_consented(tx, act_services, &act, now)? {
        return match act.effect.writes() {
            true => mark_unknown(tx, act_services, &act, cost, now),
            false => mark_failed(tx, act_services, &act, now),
        };
    }
    if act.effect.writes() && !is_still_permitted(tx, act_services, &act, tool, now)? {
        return mark_unknown(tx, act_services, &act, cost, now);
    }
    match act.effect {
        Effect::Read | Effect::Keyed => Ok(ActRecovery::Retry(build_retry_permit(tx, act, cost, timeout)?)),
        Effect::Checked => Ok(ActRecovery::LookUp(build_retry_permit(tx, act, cost, timeout)?)),
        // One in our own transaction leaves no intent behind without its result; a foreign one can't be told.
        Effect::Inside | Effect::Once => mark_unknown(tx, act_services, &act, cost, now),
    }
}

/// Whether what was decided then may still be done: keys are forgotten, people leave, and policies are tightened.
fn is_still_permitted(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    act: &Act,
    tool: Option<&CompiledTool>,
    now: Timestamp,
) -> Result<bool> {
    let Some(tool) = tool else { return Ok(true) };
    let policy = act_services.load_policy(tx)?;
    let connector = policy.conduct(&tool.connector.name, tool.connector.conduct.as_ref());
    let scope = tool.render_scope(&act.arguments);
    let open = connector.is_some_and(|conduct| {
        let level = conduct.autonomy.min(policy.most_autonomy.unwrap_or(Autonomy::Act));
        level >= Autonomy::Propose && conduct.find_denial(&scope).is_none() && conduct.allows(&scope, true)
    });
    Ok(open && now.since(act.began_at) < LONGEST_AGE)
}

/// Whether the person still agrees to what it is for.
fn is_still_consented(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    act: &Act,
    now: Timestamp,
) -> Result<bool> {
    let Some(consent) = act.consent else { return Ok(true) };
    let policy = act_services.load_policy(tx)?;
    consents::is_valid(tx, &policy.consent, consent, now)
}

fn build_retry_permit(tx: &Tx<'_>, act: Act, cost: Option<Money>, timeout: Duration) -> Result<Permit> {
    Ok(Permit {
        act: act.id,
        tenant: tx.tenant(),
        tool: act
            .tool
            .parse()
            .map_err(|error: munshi_types::ToolNameError| crate::Error::Invalid(error.to_string()))?,
        effect: act.effect,
        arguments: act.leaving.unwrap_or(act.arguments),
        mode: PermitMode::Apply,
        attempt: act.attempt + 1,
        is_repeat: true,
        is_transient: act.is_transient,
        consent: act.consent,
        began_at: act.began_at,
        cost,
        reservation: act.reservation,
        actor: super::begin::actor_id(act.binding),
        term: PermitTerm::begin(timeout),
    })
}

fn mark_unknown(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    act: &Act,
    cost: Option<Money>,
    now: Timestamp,
) -> Result<ActRecovery> {
    let kept = json!({ "ok": false, "code": "unknown_outcome", "retryable": false });
    store::end(tx, act.id, ActState::Intended, ActState::Unknown, Some(&kept), None, now)?;
    if let (Some(reservation), Some(cost)) = (act.reservation, cost) {
        limits::settle(tx, act_services, reservation, cost)?;
    }
    approvals::ask_outcome(tx, act_services, act.id, now)?;
    record_end(tx, act_services, act, AuditEvent::ACT_UNKNOWN, now)?;
    Ok(ActRecovery::MarkedUnknown)
}

fn mark_failed(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    act: &Act,
    now: Timestamp,
) -> Result<ActRecovery> {
    let kept = json!({ "ok": false, "code": INTERRUPTED, "retryable": false });
    store::end(tx, act.id, ActState::Intended, ActState::Failed, Some(&kept), None, now)?;
    unasked::release(tx, act.id)?;
    if let Some(reservation) = act.reservation {
        limits::release(tx, act_services, reservation)?;
    }
    record_end(tx, act_services, act, AuditEvent::ACT_FAILED, now)?;
    Ok(ActRecovery::MarkedFailed)
}

fn record_end(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    act: &Act,
    event: AuditEvent,
    now: Timestamp,
) -> Result<()> {
    let entry = NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::System, "recovery"),
        event,
        subject: act.id.to_string(),
        payload: json!({ "tool": act.tool }),
    };
    audit::append(tx, &entry, now, &act_services.ids)?;
    Ok(())
}
