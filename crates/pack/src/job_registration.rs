//! Teaches a job runner what packs do by the clock and by themselves.

use std::sync::Arc;

use munshi_jobs::JobRegistry;
use munshi_jobs::schedule::Schedule;

use crate::error::InvalidPack;
use crate::heartbeat_job::{HeartbeatJob, HeartbeatPayload};
use crate::job::{PackJob, PackJobEntry, PackJobParts};
use crate::registry::PackRegistry;

impl PackRegistry {
    /// Adds every pack's jobs, schedules and heartbeats. Add them after the house's own kinds: a pack that has one of theirs is
    /// refused.
    pub fn register_jobs(
        self: &Arc<Self>,
        registry: &mut JobRegistry,
        parts: &PackJobParts,
    ) -> Result<(), InvalidPack> {
        let heartbeats = PackJobEntry::new("packs", HeartbeatJob { packs: self.clone() });
        for entry in self.jobs.iter().chain([&heartbeats]) {
            if registry.has_kind(entry.kind.name()) {
                let what = format!("job kind {} is taken", entry.kind.name());
                return Err(InvalidPack::Other { pack: entry.pack.to_owned(), what });
            }
            let (handler, parts) = (entry.handler.clone(), parts.clone());
            registry.add(entry.kind, move |job| handler(parts.clone(), job));
        }
        for of in &self.schedules {
            registry.add_tenant_schedule(of.clone());
        }
        for of in &self.heartbeats {
            let (pack, heartbeat) = (of.pack.to_owned(), of.what.name().to_owned());
            let refuse = |what: String| InvalidPack::Other { pack: pack.clone(), what };
            let rule = of.what.schedule().to_rule().map_err(refuse)?;
            let name = format!("{pack}.heartbeat.{heartbeat}");
            let payload = HeartbeatPayload { pack: pack.clone(), heartbeat };
            let schedule = Schedule::new(name, HeartbeatJob::KIND.name(), &payload, rule);
            registry.add_tenant_schedule(schedule.map_err(|error| refuse(error.to_string()))?);
        }
        Ok(())
    }
}
