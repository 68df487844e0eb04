//! Teaches a job runner what packs do by the clock and by themselves.

use std::sync::Arc;

use munshi_jobs::schedule::Schedule;
use munshi_jobs::{Job, JobFailure, JobRegistry};
use serde_json::Value;

use crate::delivery_job::DeliveryJob;
use crate::error::InvalidPack;
use crate::heartbeat_job::{HeartbeatJob, HeartbeatPayload};
use crate::job::{PackJob, PackJobEntry, PackJobParts};
use crate::poll_job::{PollJob, PollPayload};
use crate::registry::PackRegistry;
use crate::schedule::PackScheduleTime;
use crate::tenant_packs::{has_pack, missing_pack};

/// Whose the jobs are that serve all packs: each looks for whom it works.
const OWN: &str = "packs";

impl PackRegistry {
    /// Adds every pack's jobs, schedules and heartbeats. Add them after the house's own kinds: a pack that has one of theirs is
    /// refused.
    pub fn register_jobs(
        self: &Arc<Self>,
        registry: &mut JobRegistry,
        parts: &PackJobParts,
    ) -> Result<(), InvalidPack> {
        let own = [
            PackJobEntry::new(OWN, HeartbeatJob { packs: self.clone() }),
            PackJobEntry::new(OWN, DeliveryJob { packs: self.clone() }),
            PackJobEntry::new(OWN, PollJob { packs: self.clone() }),
        ];
        for entry in self.jobs.iter().chain(&own) {
            if registry.has_kind(entry.kind.name()) {
                let what = format!("job kind {} is taken", entry.kind.name());
                return Err(InvalidPack::Other { pack: entry.pack.to_owned(), what });
            }
            let (packs, entry, parts) = (self.clone(), entry.clone(), parts.clone());
            registry
                .add(entry.kind, move |job| run_if_listed(packs.clone(), entry.clone(), parts.clone(), job));
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

/// Runs a pack's job for a tenant that has the pack. What the clock made for another is no work; what the pack itself left behind
/// stays among the dead letters.
async fn run_if_listed(
    packs: Arc<PackRegistry>,
    entry: PackJobEntry,
    parts: PackJobParts,
    job: Job,
) -> Result<(), JobFailure> {
    if entry.pack == OWN || has_pack(&parts.db, job.tenant, entry.pack).await? {
        return (entry.handler)(parts, job).await;
    }
    let mut schedules = packs.schedules.iter();
    // A database may write the same value otherwise.
    let payload: Value = job.payload.read()?;
    let is_clocks = schedules.any(|own| {
        own.kind == job.kind && own.payload.read::<Value>().is_ok_and(|planned| planned == payload)
    });
    if is_clocks { Ok(()) } else { Err(missing_pack(entry.pack)) }
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
