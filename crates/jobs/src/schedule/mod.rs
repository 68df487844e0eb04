//! Jobs made by the clock. A schedule fires once, however many nodes there are.

mod fire;
mod rule;
mod tenant_schedules;

pub(crate) use fire::{LARGEST_FIRING, fire, reset_future_schedules};
pub use rule::ScheduleRule;
pub(crate) use tenant_schedules::{add_missing, replace_changed};

use munshi_store::{JsonText, Tx, params};
use munshi_types::{Timestamp, Zone};
use serde::Serialize;

use crate::error::Result;
use crate::job::Priority;

/// A schedule of one tenant, by name: setting it again replaces it.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub name: String,
    pub kind: &'static str,
    /// Words of the program and never of people: it stands plain in the database, and so it does in the jobs that are made of it.
    pub payload: JsonText,
    pub priority: Priority,
    pub rule: ScheduleRule,
    /// None: the tenant's own, also when it moves.
    pub zone: Option<Zone>,
}

impl Schedule {
    pub fn new(
        name: impl Into<String>,
        kind: &'static str,
        payload: &impl Serialize,
        rule: ScheduleRule,
    ) -> Result<Self> {
        let (name, payload) = (name.into(), JsonText::of(payload)?);
        Ok(Self { name, kind, payload, priority: Priority::Background, rule, zone: None })
    }
}

/// Sets a schedule. `tenant_zone` is the tenant's, for the first time it fires. An unchanged rule keeps its next time,
/// so that restarting every few minutes does not put an hourly job off forever.
pub fn set(tx: &mut Tx<'_>, schedule: &Schedule, tenant_zone: &Zone, now: Timestamp) -> Result<()> {
    let zone = schedule.zone.as_ref().unwrap_or(tenant_zone);
    let next = schedule.rule.next_after(now, zone)?;
    let (rule, own_zone) = (schedule.rule.to_string(), schedule.zone.as_ref().map(Zone::as_str));
    tx.execute(
        "INSERT INTO job_schedules (tenant_id, name, kind, priority, payload, rule, zone, next_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (tenant_id, name) DO UPDATE SET kind = excluded.kind, priority = excluded.priority,
           payload = excluded.payload, rule = excluded.rule, zone = excluded.zone,
           next_at = CASE WHEN job_schedules.rule = excluded.rule AND job_schedules.zone IS NOT DISTINCT FROM excluded.zone
                            AND job_schedules.next_at < excluded.next_at
                          THEN job_schedules.next_at ELSE excluded.next_at END",
        params![schedule.name, schedule.kind, schedule.priority.rank(), schedule.payload, rule, own_zone, next],
    )?;
    Ok(())
}

/// False when there was none of this name.
pub fn remove(tx: &mut Tx<'_>, name: &str) -> Result<bool> {
    let removed =
        tx.execute("DELETE FROM job_schedules WHERE tenant_id = $1 AND name = $2", params![name])?;
    Ok(removed == 1)
}
