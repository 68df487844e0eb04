//! Teaches a job runner what packs do by the clock and by themselves.

use std::sync::Arc;

use munshi_jobs::JobRegistry;
use munshi_jobs::schedule::Schedule;

use crate::delivery_job::DeliveryJob;
use crate::error::InvalidPack;
use crate::heartbeat_job::{HeartbeatJob, HeartbeatPayload};
use crate::job::{PackJob, PackJobEntry, PackJobParts};
use crate::poll_job::{PollJob, PollPayload};
use crate::registry::PackRegistry;
use crate::schedule::PackScheduleTime;

impl PackRegistry {
    /// Adds every pack's jobs, schedules and heartbeats. Add them after the house's own kinds: a pack that has one of theirs is
    /// refused.
    pub fn register_jobs(
        self: &Arc<Self>,
        registry: &mut JobRegistry,
        parts: &PackJobParts,
    ) -> Result<(), InvalidPack> {
        let own = [
            PackJobEntry::new("packs", HeartbeatJob { packs: self.clone() }),
            PackJobEntry::new("packs", DeliveryJob { packs: self.clone() }),
            PackJobEntry::new("packs", PollJob { packs: self.clone() }),
        ];
        for entry in self.jobs.iter().chain(&own) {
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
            let name = format!("{pack}.heartbeat.{heartbeat}");
            let payload = HeartbeatPayload { pack, heartbeat };
            let schedule = build_schedule::<HeartbeatJob>(of.pack, name, of.what.schedule(), &payload)?;
            registry.add_tenant_schedule(schedule);
        }
        for of in &self.polls {
            let (pack, poll) = (of.pack.to_owned(), of.what.name().to_owned());
            let name = format!("{pack}.poll.{poll}");
            let payload = PollPayload { pack, poll };
            let schedule = build_schedule::<PollJob>(of.pack, name, of.what.schedule(), &payload)?;
            registry.add_tenant_schedule(schedule);
        }
        Ok(())
    }
}

fn build_schedule<J: PackJob>(
    pack: &'static str,
    name: String,
    time: PackScheduleTime,
    payload: &J::Payload,
) -> Result<Schedule, InvalidPack> {
    let refuse = |what: String| InvalidPack::Other { pack: pack.to_owned(), what };
    let rule = time.to_rule().map_err(refuse)?;
    Schedule::new(name, J::KIND.name(), payload, rule).map_err(|error| refuse(error.to_string()))
}
