//! What is done about the audit by the clock: all chains are verified every night, and anchored as they grow.

use std::sync::Arc;
use std::time::Duration;

use metrics::{counter, gauge};
use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_jobs::{Job, JobFailure, JobKind, JobRegistry};
use munshi_store::{Db, JsonText};
use munshi_types::{Clock, TenantId, Timestamp, Zone};
use serde_json::{Value, json};

use super::anchors::{AnchorService, AnchorTrigger};
use super::verify::{AuditVerification, verify_chains};
use super::{AuditActor, AuditActorKind, AuditEvent, NewAuditEntry, append};
use crate::error::{Error, Result};

const VERIFY: &str = "audit.verify";
const ANCHOR: &str = "audit.anchor";
pub(super) const SEND: &str = "audit.send";

/// While most of the country sleeps.
const NIGHTLY: &str = "30 3 * * *";

/// How often it is looked which chains have grown.
const LOOK: Duration = Duration::from_secs(60);

/// Teaches a runner the audit's kinds of work.
pub fn install(registry: &mut JobRegistry, anchoring: &Arc<AnchorService>) {
    let nightly = anchoring.clone();
    registry.add(JobKind::new(VERIFY).limit(1), move |_| {
        let anchoring = nightly.clone();
        async move { verify_and_anchor(&anchoring).await.map(|_| ()).map_err(JobFailure::from) }
    });
    let growing = anchoring.clone();
    registry.add(JobKind::new(ANCHOR).limit(1), move |_| {
        let anchoring = growing.clone();
        async move { anchoring.anchor(AnchorTrigger::Grown, &[]).await.map(|_| ()).map_err(JobFailure::from) }
    });
    let sending = anchoring.clone();
    registry.add(JobKind::new(SEND).limit(2), move |job| {
        let anchoring = sending.clone();
        async move { send(&anchoring, &job).await }
    });
}

/// Sets the schedules of those kinds; again at every start, which changes nothing.
pub async fn set_schedules(db: &Db, clock: &dyn Clock) -> Result<()> {
    let nothing = json!({});
    let schedules = [
        ScheduleRule::cron(NIGHTLY).and_then(|rule| Schedule::new(VERIFY, VERIFY, &nothing, rule)),
        ScheduleRule::every(LOOK).and_then(|rule| Schedule::new(ANCHOR, ANCHOR, &nothing, rule)),
    ];
    let schedules = schedules.into_iter().collect::<Result<Vec<_>, _>>().map_err(job_error)?;
    let now = clock.now();
    db.write(TenantId::PLATFORM, move |tx| {
        let zone = Zone::default();
        schedules.iter().try_for_each(|schedule| schedule::set(tx, schedule, &zone, now)).map_err(job_error)
    })
    .await
}

/// Verifies every chain, tells everybody what was found, and anchors the sound ones.
pub async fn verify_and_anchor(anchoring: &AnchorService) -> Result<AuditVerification> {
    let survey = verify_chains(&anchoring.db, None, &anchoring.anchors().await?).await?;
    report(&survey);
    record(anchoring, &survey, anchoring.clock.now()).await?;
    let broken: Vec<TenantId> = survey.broken_chains().map(|chain| chain.tenant).collect();
    anchoring.anchor(AnchorTrigger::Moved, &broken).await?;
    Ok(survey)
}

#[allow(clippy::cast_precision_loss, reason = "a gauge is a float; nobody has 2^52 chains")]
fn report(survey: &AuditVerification) {
    for chain in survey.broken_chains() {
        let what = chain.finding.map(|finding| finding.to_string()).unwrap_or_default();
        tracing::error!(target: "audit.verify", tenant = %chain.tenant, what, "audit chain is broken");
    }
    if let Some(flaw) = &survey.flaw {
        tracing::error!(target: "audit.verify", line = flaw.line, what = flaw.what, "anchor file was altered");
    }
    gauge!("munshi_audit_broken_chains").set(survey.broken_chains().count() as f64);
    gauge!("munshi_audit_anchors_altered").set(if survey.flaw.is_some() { 1.0 } else { 0.0 });
    gauge!("munshi_audit_entries").set(survey.count_entries() as f64);
    counter!("munshi_audit_verifications_total").increment(1);
}

/// Writes the outcome into the installation's own chain.
async fn record(anchoring: &AnchorService, survey: &AuditVerification, now: Timestamp) -> Result<()> {
    let event = if survey.is_sound() { AuditEvent::AUDIT_VERIFIED } else { AuditEvent::AUDIT_BROKEN };
    let broken: Vec<_> = survey
        .broken_chains()
        .map(|chain| json!({ "tenant": chain.tenant, "finding": chain.finding }))
        .collect();
    let entry = NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::System, "audit"),
        event,
        subject: "chains".to_owned(),
        payload: json!({
            "chains": survey.chains.len(), "entries": survey.count_entries(), "broken": broken,
            "anchors": survey.anchors, "flaw": survey.flaw,
        }),
    };
    let ids = anchoring.ids.clone();
    anchoring.db.write(TenantId::PLATFORM, move |tx| append(tx, &entry, now, &ids).map(|_| ())).await
}

async fn send(anchoring: &AnchorService, job: &Job) -> Result<(), JobFailure> {
    let Some(webhook) = &anchoring.webhook else {
        // The settings no longer name one.
        return Ok(());
    };
    let payload: &JsonText = &job.payload;
    // Stored JSON has the engine's own order; what is sent has one spelling.
    let body = super::canonical_json::to_canonical_json(&payload.read::<Value>()?);
    webhook.send(&body).await.map_err(JobFailure::Passing)
}

fn job_error(error: munshi_jobs::Error) -> Error {
    match error {
        munshi_jobs::Error::Store(error) => error.into(),
        other => Error::Invalid(other.to_string()),
    }
}
