//! The job that lets one heartbeat of one tenant beat, and stores what it found.

use std::sync::Arc;

use munshi_jobs::{JobFailure, JobKind};
use munshi_lang::{Language, Locale, ScriptForm};
use munshi_store::Tx;
use serde::{Deserialize, Serialize};

use crate::alerts::{self, AlertSource, WordedAlert};
use crate::heartbeat::{Alert, Heartbeat, HeartbeatTick};
use crate::job::{PackJob, PackJobCall};
use crate::registry::{FromPack, PackRegistry};
use crate::tenant_packs::has_pack;

/// A key is stored and shown; longer ones are a mistake.
const LONGEST_KEY: usize = 200;

/// Every heartbeat of every pack is a job of this kind.
pub(crate) struct HeartbeatJob {
    pub(crate) packs: Arc<PackRegistry>,
}

/// Which heartbeat beats.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HeartbeatPayload {
    pub(crate) pack: String,
    pub(crate) heartbeat: String,
}

impl PackJob for HeartbeatJob {
    const KIND: JobKind = JobKind::new("packs.heartbeat").limit(2);
    type Payload = HeartbeatPayload;

    async fn run(&self, call: PackJobCall<HeartbeatPayload>) -> Result<(), JobFailure> {
        let HeartbeatPayload { pack, heartbeat: name } = &call.payload;
        let known =
            |of: &&FromPack<dyn Heartbeat>| of.pack == pack.as_str() && of.what.name() == name.as_str();
        let Some(of) = self.packs.heartbeats.iter().find(known).cloned() else {
            return Err(JobFailure::Lasting(format!("there is no heartbeat {pack}.{name}")));
        };
        if !has_pack(call.db(), call.tenant.id, of.pack).await? {
            return call.finish(|_| Ok(())).await;
        }
        let tick = HeartbeatTick { now: call.now, zone: call.tenant.zone.clone() };
        let heartbeat = of.what.clone();
        // Read first: looking at much must not hold the writer.
        let found = call.read(move |tx| Ok(heartbeat.collect_alerts(tx, &tick)?)).await?;
        let (pack, heartbeat) = (of.pack, of.what.name());
        let found: Vec<WordedAlert> =
            found.into_iter().filter_map(|alert| self.word(pack, heartbeat, alert)).collect();
        let source = AlertSource { pack, heartbeat, now: call.now, ids: call.ids.clone() };
        let record = move |tx: &mut Tx<'_>| {
            alerts::record_beat(tx, &source, &found).map_err(|error| JobFailure::Passing(error.to_string()))
        };
        let changes = call.finish(record).await?;
        if changes.raised + changes.cleared > 0 {
            let (raised, cleared) = (changes.raised, changes.cleared);
            tracing::info!(tenant = %call.tenant.name, pack, heartbeat, raised, cleared, "alerts changed");
        }
        Ok(())
    }
}

impl HeartbeatJob {
    /// The alert with its words in English. What is wrong with one is a mistake of the pack, and keeps no other from being told: without
    /// words it is told by its phrase's name, and without a key that can be stored it is only logged.
    fn word(&self, pack: &str, heartbeat: &str, alert: Alert) -> Option<WordedAlert> {
        if alert.key.is_empty() || alert.key.len() > LONGEST_KEY || alert.key.contains('\0') {
            tracing::error!(pack, heartbeat, "an alert's key must have 1 to {LONGEST_KEY} bytes");
            return None;
        }
        let english = Locale::new(Language::English, ScriptForm::Latin);
        let text = self.packs.render_phrase(english, &alert.phrase, &alert.slots).unwrap_or_else(|error| {
            tracing::error!(pack, heartbeat, key = alert.key, %error, "an alert can't be worded");
            format!("{}: {}", alert.phrase, alert.key)
        });
        Some(WordedAlert { alert, text })
    }
}
