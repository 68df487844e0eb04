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
        let tick = HeartbeatTick { now: call.now, zone: call.tenant.zone.clone() };
        let heartbeat = of.what.clone();
        // Read first: looking at much must not hold the writer.
        let found = call.read(move |tx| Ok(heartbeat.collect_alerts(tx, &tick)?)).await?;
        let found = found.into_iter().map(|alert| self.word(alert)).collect::<Result<Vec<_>, _>>()?;
        let (pack, heartbeat) = (of.pack, of.what.name());
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
    /// The alert with its words in English. One that can't be stored is a mistake of the pack: trying again changes nothing.
    fn word(&self, alert: Alert) -> Result<WordedAlert, JobFailure> {
        if alert.key.is_empty() || alert.key.len() > LONGEST_KEY || alert.key.contains('\0') {
            return Err(JobFailure::Lasting(format!("an alert's key must have 1 to {LONGEST_KEY} bytes")));
        }
        let english = Locale::new(Language::English, ScriptForm::Latin);
        let text = self.packs.render_phrase(english, &alert.phrase, &alert.slots);
        let text = text.map_err(|error| JobFailure::Lasting(format!("alert {}: {error}", alert.key)))?;
        Ok(WordedAlert { alert, text })
    }
}
