//! Refused proposals have a rate of their own, for each person at each binding. Past it they are counted, and the audit
//! is told how many there were: whoever proposes without end fills no table with it.

use std::time::Duration;

use munshi_store::{PlatformTx, Tx, across_tenants, params};
use munshi_types::{BindingId, PersonId, TenantId, Timestamp};
use serde_json::json;

use super::begin::actor_id;
use super::deferred_audit::DeferredAuditEntries;
use crate::audit::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use crate::budget::rate_quota::{self, RateDecision, RateQuota};
use crate::error::Result;
use crate::pipeline::{ActRefusal, Proposal, RefusalCode, StageName};

/// Those counted within this are told together.
const TOGETHER: Duration = Duration::from_secs(60);

/// Whether a refusal is told by itself.
pub(super) enum RefusalReporting {
    Apart,
    /// It is only counted. What is untold is the count of those before, where its time has come.
    Counted(Timestamp, DeferredAuditEntries),
}

/// Takes note of a proposal that is refused.
pub(super) fn record_refusal(
    tx: &mut Tx<'_>,
    proposal: &Proposal,
    most: u32,
    now: Timestamp,
) -> Result<RefusalReporting> {
    let (binding, person) = (proposal.caller.binding, proposal.caller.principal.person);
    let source = source(binding, person);
    match rate_quota::consume(tx, &format!("refused {source}"), RateQuota::per_minute(most), now)? {
        RateDecision::Taken => Ok(RefusalReporting::Apart),
        RateDecision::Wait(wait) => {
            let since = increment(tx, &source, binding, person, now)?;
            let due = now.since(since) >= TOGETHER;
            let untold = if due {
                flush_counted_refusals(tx, &source, now)?.1
            } else {
                DeferredAuditEntries::default()
            };
            Ok(RefusalReporting::Counted(now.plus(wait), untold))
        }
    }
}

/// Instead of what was refused, which was told often enough.
pub(super) fn build_rate_refusal(again_at: Timestamp) -> ActRefusal {
    let what = "Too many proposals were refused, one after the other. Propose nothing more: answer without tools, and \
                tell the person what can't be done.";
    ActRefusal::new(StageName::Limits, RefusalCode::TooManyRefused, what).again_at(Some(again_at))
}

fn source(binding: Option<BindingId>, person: Option<PersonId>) -> String {
    let binding = actor_id(binding);
    let person = person.map_or_else(|| "anybody".to_owned(), |id| id.to_string());
    format!("{binding} {person}")
}

/// Counts one more; gives since when they are counted.
fn increment(
    tx: &mut Tx<'_>,
    source: &str,
    binding: Option<BindingId>,
    person: Option<PersonId>,
    now: Timestamp,
) -> Result<Timestamp> {
    Ok(tx.one(
        "INSERT INTO act_refusals (tenant_id, source, binding_id, person_id, refused, since)
         VALUES ($1, $2, $3, $4, 1, $5)
         ON CONFLICT (tenant_id, source) DO UPDATE SET refused = act_refusals.refused + 1
         RETURNING since",
        params![source, binding, person, now],
        |row| row.get(0),
    )?)
}

/// Refusals that were only counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedRefusals {
    pub tenant: TenantId,
    pub source: String,
}

/// Counts whose time has come, of all tenants; each is then told in its tenant's transaction by [`flush_counted_refusals`].
pub fn list_counted_refusals(
    tx: &mut PlatformTx<'_>,
    most: u32,
    now: Timestamp,
) -> Result<Vec<CountedRefusals>> {
    Ok(tx.all(
        across_tenants(
            "SELECT tenant_id, source FROM act_refusals WHERE since <= $1 ORDER BY since LIMIT $2",
        ),
        params![now.minus(TOGETHER), most],
        |row| Ok(CountedRefusals { tenant: row.get(0)?, source: row.get(1)? }),
    )?)
}

/// Takes a count out, and says how many it was, for the audit to be told of.
pub fn flush_counted_refusals(
    tx: &mut Tx<'_>,
    source: &str,
    now: Timestamp,
) -> Result<(u64, DeferredAuditEntries)> {
    let taken = tx.optional(
        "DELETE FROM act_refusals WHERE tenant_id = $1 AND source = $2
         RETURNING refused, since, binding_id, person_id",
        params![source],
        |row| {
            let (binding, person): (Option<BindingId>, Option<PersonId>) = (row.get(2)?, row.get(3)?);
            Ok((row.get::<i64>(0)?, row.get::<Timestamp>(1)?, binding, person))
        },
    )?;
    let Some((refused, since, binding, person)) = taken else {
        return Ok((0, DeferredAuditEntries::default()));
    };
    let entry = NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::Agent, actor_id(binding)),
        event: AuditEvent::ACTS_REFUSED,
        subject: person.map_or_else(|| "anybody".to_owned(), |id| id.to_string()),
        payload: json!({
            "code": RefusalCode::TooManyRefused, "refused": refused, "since": since, "until": now, "person": person,
        }),
    };
    Ok((refused.unsigned_abs(), DeferredAuditEntries::from_entry(entry)))
}
