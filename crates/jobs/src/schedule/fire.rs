//! Making the jobs that are due.

use munshi_store::{JsonText, PlatformTx, across_tenants, params};
use munshi_types::{IdGenerator, TenantId, Timestamp, Zone};

use super::rule::ScheduleRule;
use crate::error::Result;
use crate::job::NewJob;

/// Clocks of nodes may differ by this much without anything being wrong.
const CLOCK_ERROR: std::time::Duration = std::time::Duration::from_secs(120);

/// At most this many schedules fire in one step.
pub(crate) const LARGEST_FIRING: usize = 500;

struct Due {
    tenant: TenantId,
    name: String,
    kind: String,
    priority: i64,
    payload: JsonText,
    rule: String,
    zone: Option<String>,
    at: Timestamp,
}

/// Fires what is due and sets the next time, in one transaction: on SQLite the writer, on Postgres the row's lock
/// keeps any other node from firing the same. While a schedule's last job is still waiting or running no other is
/// made. Paused tenants' schedules wait. Gives how many were due.
pub(crate) fn fire(tx: &mut PlatformTx<'_>, ids: &IdGenerator, now: Timestamp) -> Result<usize> {
    let all_due = list_due(tx, now)?;
    for due in &all_due {
        let next = next_time(due, now);
        match &next {
            Ok(_) => enqueue(tx, due, ids, now)?,
            Err(error) => {
                tracing::error!(%error, schedule = due.name, "invalid schedule; skipped for a day");
            }
        }
        let next = next.unwrap_or_else(|_| now.plus(std::time::Duration::from_secs(86_400)));
        tx.execute(
            across_tenants(
                "UPDATE job_schedules SET next_at = $3, last_at = $4 WHERE tenant_id = $1 AND name = $2",
            ),
            params![due.tenant, due.name, next, now],
        )?;
    }
    Ok(all_due.len())
}

fn next_time(due: &Due, now: Timestamp) -> Result<Timestamp> {
    let zone: Zone = due.zone.as_deref().and_then(|zone| zone.parse().ok()).unwrap_or_default();
    due.rule.parse::<ScheduleRule>()?.next_after_firing(due.at, now, &zone)
}

fn list_due(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<Vec<Due>> {
    let text = (
        "SELECT s.tenant_id, s.name, s.kind, s.priority, s.payload, s.rule, coalesce(s.zone, t.zone) AS zone, s.next_at
         FROM job_schedules s LEFT JOIN tenants t ON t.id = s.tenant_id
         WHERE s.next_at <= $1 AND coalesce(t.status, 'active') = 'active' ORDER BY s.next_at LIMIT 500",
        "SELECT s.tenant_id, s.name, s.kind, s.priority, s.payload, s.rule, coalesce(s.zone, t.zone) AS zone, s.next_at
         FROM job_schedules s LEFT JOIN tenants t ON t.id = s.tenant_id
         WHERE s.next_at <= $1 AND coalesce(t.status, 'active') = 'active' ORDER BY s.next_at LIMIT 500
         FOR UPDATE OF s SKIP LOCKED",
    );
    Ok(tx.all(across_tenants(text), params![now], |row| {
        Ok(Due {
            tenant: row.get("tenant_id")?,
            name: row.get("name")?,
            kind: row.get("kind")?,
            priority: row.get("priority")?,
            payload: row.get("payload")?,
            rule: row.get("rule")?,
            zone: row.get("zone")?,
            at: row.get("next_at")?,
        })
    })?)
}

/// Schedules that last fired in the future, by a clock that was wrong then, would sleep until that time comes: they are
/// due again now, and fire by the right one.
pub(crate) fn reset_future_schedules(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    let later = now.plus(CLOCK_ERROR);
    Ok(tx.execute(
        across_tenants(
            "UPDATE job_schedules SET next_at = $1, last_at = NULL WHERE last_at > $2 AND next_at > $1",
        ),
        params![now, later],
    )?)
}

fn enqueue(tx: &mut PlatformTx<'_>, due: &Due, ids: &IdGenerator, now: Timestamp) -> Result<()> {
    let id: munshi_types::JobId = ids.next();
    let key = format!("schedule {}", due.name);
    tx.execute(
        across_tenants(
            "INSERT INTO jobs (id, tenant_id, kind, priority, payload, unique_key, state, run_at, attempt,
                               max_attempts, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, 'ready', $7, 0, $8, $7)
             ON CONFLICT (tenant_id, kind, unique_key)
               WHERE unique_key IS NOT NULL AND state IN ('scheduled', 'ready', 'running') DO NOTHING",
        ),
        params![id, due.tenant, due.kind, due.priority, due.payload, key, now, NewJob::ATTEMPTS],
    )?;
    Ok(())
}
