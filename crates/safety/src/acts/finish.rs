//! What came of an act, written down with its cost and its entry in the audit.

use munshi_store::{Tx, params};
use munshi_types::Timestamp;
use serde_json::{Value, json};

use super::deferred_audit::DeferredAuditEntries;
use super::limits;
use super::permit::{Permit, PermitMode};
use super::services::ActServices;
use super::store::{self, ActState};
use super::unasked;
use crate::approvals;
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::error::{Error, Result};

/// The code of a failure that a person can put right by logging in at a service: what failed so was not done, and is
/// begun again under the same act when it is asked for again.
pub const LOGIN_NEEDED: &str = "login_needed";

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ActOutcome {
    /// Done. The value is as it may be stored: scrubbed, and not endless.
    Applied(Value),
    /// Surely not done.
    Failed {
        code: String,
        retryable: bool,
        detail: String,
        /// What helps, as whoever called the tool keeps it.
        next: Option<Value>,
    },
    /// Nobody knows: it broke off after it may have been done.
    Unknown { detail: String },
}

/// Ends an act. The permit is used up whatever the outcome. Of a tool whose words are not kept, a stand-in is stored.
pub fn finish(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    permit: Permit,
    outcome: &ActOutcome,
    now: Timestamp,
) -> Result<DeferredAuditEntries> {
    let stand_in = permit.stand_in().map(|stand_in| stand_in.replace(outcome));
    let outcome = stand_in.as_ref().unwrap_or(outcome);
    if permit.mode == PermitMode::Rehearse {
        return finish_rehearsal(tx, &permit, outcome, now);
    }
    if lock_attempt(tx, &permit)? != Some(permit.attempt) {
        return Err(Error::Invalid(format!("act {} has already ended or was taken over", permit.act)));
    }
    if matches!(outcome, ActOutcome::Failed { .. }) {
        unasked::release(tx, permit.act)?;
    }
    match (permit.reservation, permit.cost, outcome) {
        (Some(reservation), _, ActOutcome::Failed { .. }) => limits::release(tx, act_services, reservation)?,
        (Some(reservation), Some(cost), _) => limits::settle(tx, act_services, reservation, cost)?,
        _ => {}
    }
    let (state, event, kept, payload) = describe_outcome(outcome);
    let micros = i64::try_from(now.since(permit.began_at).as_micros()).ok();
    store::end(tx, permit.act, ActState::Intended, state, Some(&kept), micros, now)?;
    if matches!(outcome, ActOutcome::Failed { code, .. } if code == LOGIN_NEEDED) {
        approvals::reinstate(tx, permit.act)?;
    }
    if state == ActState::Unknown {
        approvals::ask_outcome(tx, act_services, permit.act, now)?;
    }
    let mut payload = payload;
    if let Some(payload) = payload.as_object_mut() {
        payload.insert("tool".to_owned(), json!(permit.tool));
        payload.insert("attempt".to_owned(), json!(permit.attempt));
    }
    let actor = AuditActor::new(AuditActorKind::Agent, permit.actor);
    Ok(DeferredAuditEntries::from_entry(NewAuditEntry {
        actor,
        event,
        subject: permit.act.to_string(),
        payload,
    }))
}

/// Which try of an act that has not ended is the current one; held, so that nobody takes it over meanwhile.
fn lock_attempt(tx: &mut Tx<'_>, permit: &Permit) -> Result<Option<i64>> {
    Ok(tx.optional(
        (
            "SELECT attempt FROM acts WHERE tenant_id = $1 AND id = $2 AND state = 'intended'",
            "SELECT attempt FROM acts WHERE tenant_id = $1 AND id = $2 AND state = 'intended' FOR UPDATE",
        ),
        params![permit.act],
        |row| row.get(0),
    )?)
}

fn describe_outcome(outcome: &ActOutcome) -> (ActState, AuditEvent, Value, Value) {
    match outcome {
        ActOutcome::Applied(value) => (
            ActState::Applied,
            AuditEvent::ACT_APPLIED,
            value.clone(),
            json!({ "bytes": value.to_string().len() }),
        ),
        ActOutcome::Failed { code, retryable, detail, next } => {
            let mut kept = json!({ "ok": false, "code": code, "retryable": retryable, "detail": detail });
            if let Some(next) = next {
                kept["next"] = next.clone();
            }
            (ActState::Failed, AuditEvent::ACT_FAILED, kept, json!({ "code": code }))
        }
        ActOutcome::Unknown { detail } => {
            let kept =
                json!({ "ok": false, "code": "unknown_outcome", "retryable": false, "detail": detail });
            (ActState::Unknown, AuditEvent::ACT_UNKNOWN, kept, json!({}))
        }
    }
}

/// Ends a rehearsal: its result goes to the question that waits for it, or stands for itself.
fn finish_rehearsal(
    tx: &mut Tx<'_>,
    permit: &Permit,
    outcome: &ActOutcome,
    now: Timestamp,
) -> Result<DeferredAuditEntries> {
    let (_, _, shown, _) = describe_outcome(outcome);
    if !approvals::attach_rehearsal(tx, permit.act, &shown)? {
        store::end(tx, permit.act, ActState::Rehearsing, ActState::Rehearsed, Some(&shown), None, now)?;
    }
    let actor = AuditActor::new(AuditActorKind::Agent, permit.actor.clone());
    let payload = json!({ "tool": permit.tool, "ok": matches!(outcome, ActOutcome::Applied(_)) });
    let event = AuditEvent::ACT_REHEARSED;
    Ok(DeferredAuditEntries::from_entry(NewAuditEntry {
        actor,
        event,
        subject: permit.act.to_string(),
        payload,
    }))
}
