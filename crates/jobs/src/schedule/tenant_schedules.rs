//! Schedules that every tenant has, also one that is made tomorrow: known to the process, with a row for each tenant.

use munshi_store::{JsonText, PlatformTx, across_tenants, params};
use munshi_types::{TenantId, Timestamp, Zone};

use super::Schedule;
use crate::error::Result;

/// Names of these rows begin with it, so that those that nobody knows any more are found.
const PREFIX: &str = "tenant/";

/// At most this many rows a step, so that no step holds the writer for long.
const STEP: usize = 500;

fn stored_name(schedule: &Schedule) -> String {
    format!("{PREFIX}{}", schedule.name)
}

/// Makes the stored schedules what this process knows: those that are gone go, and those that changed are made anew.
pub(crate) fn replace_changed(tx: &mut PlatformTx<'_>, schedules: &[Schedule]) -> Result<()> {
    let names: Vec<String> = schedules.iter().map(stored_name).collect();
    tx.execute(
        across_tenants((
            "DELETE FROM job_schedules WHERE name LIKE $1 AND name NOT IN (SELECT value FROM json_each($2))",
            "DELETE FROM job_schedules
             WHERE name LIKE $1 AND name NOT IN (SELECT jsonb_array_elements_text($2::jsonb))",
        )),
        params![format!("{PREFIX}%"), JsonText::of(&names)?],
    )?;
    for (schedule, name) in schedules.iter().zip(&names) {
        let zone = schedule.zone.as_ref().map(Zone::as_str);
        tx.execute(
            across_tenants(
                "DELETE FROM job_schedules WHERE name = $1 AND (rule <> $2 OR zone IS DISTINCT FROM $3)",
            ),
            params![name, schedule.rule.to_string(), zone],
        )?;
        tx.execute(
            across_tenants("UPDATE job_schedules SET kind = $2, priority = $3, payload = $4 WHERE name = $1"),
            params![name, schedule.kind, schedule.priority.rank(), schedule.payload],
        )?;
    }
    Ok(())
}

/// Gives the schedules to active tenants that lack one; true when there may be more to give.
pub(crate) fn add_missing(tx: &mut PlatformTx<'_>, schedules: &[Schedule], now: Timestamp) -> Result<bool> {
    let mut is_more = false;
    for schedule in schedules {
        let name = stored_name(schedule);
        let tenants = list_without(tx, &name)?;
        is_more |= tenants.len() == STEP;
        for (tenant, zone) in tenants {
            add(tx, schedule, &name, tenant, &zone, now)?;
        }
    }
    Ok(is_more)
}

fn list_without(tx: &mut PlatformTx<'_>, name: &str) -> Result<Vec<(TenantId, Zone)>> {
    let limit = i64::try_from(STEP).unwrap_or(i64::MAX);
    Ok(tx.all(
        across_tenants(
            "SELECT tenants.id, tenants.zone FROM tenants WHERE tenants.status = 'active' AND NOT EXISTS (
               SELECT 1 FROM job_schedules WHERE job_schedules.tenant_id = tenants.id AND job_schedules.name = $1)
             ORDER BY tenants.id LIMIT $2",
        ),
        params![name, limit],
        |row| Ok((row.get(0)?, row.get::<String>(1)?.parse().unwrap_or_default())),
    )?)
}

fn add(
    tx: &mut PlatformTx<'_>,
    schedule: &Schedule,
    name: &str,
    tenant: TenantId,
    tenant_zone: &Zone,
    now: Timestamp,
) -> Result<()> {
    let next = schedule.rule.next_after(now, schedule.zone.as_ref().unwrap_or(tenant_zone))?;
    let (rule, zone) = (schedule.rule.to_string(), schedule.zone.as_ref().map(Zone::as_str));
    tx.execute(
        across_tenants(
            "INSERT INTO job_schedules (tenant_id, name, kind, priority, payload, rule, zone, next_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant_id, name) DO NOTHING",
        ),
        params![tenant, name, schedule.kind, schedule.priority.rank(), schedule.payload, rule, zone, next],
    )?;
    Ok(())
}
