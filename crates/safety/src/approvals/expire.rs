//! Questions nobody answered in time, and answers nobody made use of in time. A question goes to somebody above, once;
//! after that, and where nobody is above, the act is dropped.

use std::time::Duration;

use munshi_store::{JsonText, PlatformTx, Tx, across_tenants, params};
use munshi_types::{ActId, ApprovalId, PersonId, TenantId, TenantStatus, Timestamp};
use serde_json::{Value, json};

use super::approvers::{ApproverChain, resolve_approvers};
use super::store::{self, OUTCOME_HOURS};
use super::{Approval, ApprovalKind, ApprovalStatus};
use crate::acts::{self, ActServices, DeferredAuditEntries};
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::error::Result;

/// A question whose time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiredApproval {
    pub tenant: TenantId,
    pub approval: ApprovalId,
    pub act: ActId,
}

/// What was done about it, for those who are to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalExpiry {
    /// As it is now: its act, who wanted it, and until when it waits where it does.
    pub approval: Approval,
    /// Whom it was put to until now.
    pub asked: Vec<PersonId>,
    pub outcome: ApprovalExpiryOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalExpiryOutcome {
    /// It waits as long again, for these: the owners first.
    Escalated(Vec<PersonId>),
    /// The act is not done.
    Dropped,
}

/// Those that are due, of all tenants but those that are paused: what waits there waits with its tenant. Each is then
/// dealt with in its own tenant's transaction by [`expire`].
pub fn list_due(tx: &mut PlatformTx<'_>, most: u32, now: Timestamp) -> Result<Vec<ExpiredApproval>> {
    Ok(tx.all(
        across_tenants(
            "SELECT a.tenant_id, a.id, a.act_id FROM approvals a JOIN tenants t ON t.id = a.tenant_id
             WHERE a.used_at IS NULL AND (a.state = 'pending' OR (a.state = 'granted' AND a.kind = 'act'))
               AND a.expires_at <= $1 AND t.status <> 'paused'
             ORDER BY a.expires_at LIMIT $2",
        ),
        params![now, most],
        |row| Ok(ExpiredApproval { tenant: row.get(0)?, approval: row.get(1)?, act: row.get(2)? }),
    )?)
}

/// Escalates one or ends it; none when it was answered, used or dealt with meanwhile.
pub fn expire(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    expired: ExpiredApproval,
    now: Timestamp,
) -> Result<Option<(ApprovalExpiry, DeferredAuditEntries)>> {
    let Some(approval) = store::find(tx, expired.approval)? else { return Ok(None) };
    let ApproverChain { first, above } = resolve_approvers(tx, act_services, &approval)?;
    let asked: Vec<PersonId> = match &approval.escalated_to {
        Some(later) => first.iter().chain(later.iter().filter(|one| !first.contains(one))).copied().collect(),
        None => first,
    };
    let may_wait = approval.state == ApprovalStatus::Pending
        && approval.escalated_at.is_none()
        && act_services.load_tenant_status(tx)? == TenantStatus::Active;
    let (done, event, outcome) = if may_wait && !above.is_empty() {
        (
            escalate(tx, act_services, &approval, &above, now)?,
            AuditEvent::APPROVAL_ESCALATED,
            ApprovalExpiryOutcome::Escalated(above),
        )
    } else {
        (mark_expired(tx, &approval, now)?, AuditEvent::APPROVAL_EXPIRED, ApprovalExpiryOutcome::Dropped)
    };
    if !done {
        return Ok(None);
    }
    store::announce(tx, approval.session);
    let untold = DeferredAuditEntries::from_entry(build_audit_entry(&approval, event, &outcome));
    let approval = store::find(tx, approval.id)?.unwrap_or(approval);
    Ok(Some((ApprovalExpiry { approval, asked, outcome }, untold)))
}

fn escalate(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    approval: &Approval,
    to: &[PersonId],
    now: Timestamp,
) -> Result<bool> {
    let hours = match approval.kind {
        ApprovalKind::Act => act_services.load_policy(tx)?.approvals.hours,
        ApprovalKind::Outcome => OUTCOME_HOURS,
    };
    let until = now.plus(Duration::from_secs(u64::from(hours) * 3600));
    let escalated = tx.execute(
        "UPDATE approvals SET expires_at = $4, escalated_at = $3, escalated_to = $5
         WHERE tenant_id = $1 AND id = $2 AND state = 'pending' AND escalated_at IS NULL AND expires_at <= $3",
        params![approval.id, now, until, JsonText::of(&to)?],
    )?;
    Ok(escalated > 0)
}

fn mark_expired(tx: &mut Tx<'_>, approval: &Approval, now: Timestamp) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE approvals SET state = 'expired', answered_at = $3
         WHERE tenant_id = $1 AND id = $2 AND expires_at <= $3 AND used_at IS NULL
           AND (state = 'pending' OR (state = 'granted' AND kind = 'act'))",
        params![approval.id, now],
    )?;
    if ended > 0 && approval.kind == ApprovalKind::Act {
        acts::record_answer(tx, approval.act, acts::ActState::Waiting, acts::ActState::Dropped, now)?;
    }
    Ok(ended > 0)
}

fn build_audit_entry(
    approval: &Approval,
    event: AuditEvent,
    outcome: &ApprovalExpiryOutcome,
) -> NewAuditEntry {
    let to: Value = match outcome {
        ApprovalExpiryOutcome::Escalated(to) => json!(to),
        ApprovalExpiryOutcome::Dropped => Value::Null,
    };
    NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::System, "approvals"),
        event,
        subject: approval.act.to_string(),
        payload: json!({ "approval": approval.id, "tool": approval.tool, "to": to }),
    }
}
