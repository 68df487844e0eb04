//! What is done at night: for every tenant, in its own zone, old messages go to the archive, and what it keeps no longer goes; once for all,
//! what let people in.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use munshi_channels::incoming::ArrivalSweeper;
use munshi_config::Config;
use munshi_conversations::retention::{self, ArchiveJob, Retention};
use munshi_identity::operators::OPERATORS;
use munshi_identity::{links, login_backoff, sign_ins};
use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_jobs::{JobFailure, JobKind, JobRegistry};
use munshi_pack::delivery::{self, DELIVERIES};
use munshi_safety::proposals::{self, PROPOSALS};
use munshi_safety::rate_limits::{self, LIMITS};
use munshi_safety::requests::{self, REQUESTS};
use munshi_store::{Db, PlatformTx};
use munshi_types::{Clock, TenantId, Timestamp, Zone};

use crate::failure::Result;

/// The kind of the job for all tenants at once, and the name of its schedule.
const NIGHT: &str = "housekeeping.night";
/// While most of the country sleeps.
const NIGHTLY: &str = "20 3 * * *";
/// The folder in the data folder; one for each tenant is made in it.
const FOLDER: &str = "archive";

pub(crate) fn register(
    kinds: &mut JobRegistry,
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
) -> Result<()> {
    let usual = match config.data.hot_days {
        0 => Retention::Kept,
        days => Retention::Hot(Duration::from_secs(days as u64 * 86_400)),
    };
    let archivist =
        ArchiveJob { db: db.clone(), clock: clock.clone(), folder: archive_folder(config), usual };
    archivist.install(kinds);
    kinds.add_tenant_schedule(retention::build_schedule()?);
    ArrivalSweeper { db: db.clone(), clock: clock.clone() }.install(kinds)?;
    let (db, clock) = (db.clone(), clock.clone());
    kinds.add(JobKind::new(NIGHT).limit(1), move |_| {
        let (db, now) = (db.clone(), clock.now());
        async move { sweep_access(&db, now).await }
    });
    Ok(())
}

/// Where what is old goes.
pub(crate) fn archive_folder(config: &Config) -> PathBuf {
    config.data.dir.join(FOLDER)
}

/// Has the job run every night, on one node.
pub(crate) async fn schedule(db: &Db, clock: &dyn Clock) -> Result<()> {
    let now = clock.now();
    let nightly = Schedule::new(NIGHT, NIGHT, &(), ScheduleRule::cron(NIGHTLY)?)?;
    db.write(TenantId::PLATFORM, move |tx| schedule::set(tx, &nightly, &Zone::default(), now)).await?;
    Ok(())
}

/// Sign-ins and links that have ended, pauses that matter no more, rate limits that are free again, and what others sent that
/// was handled long ago.
async fn sweep_access(db: &Db, now: Timestamp) -> Result<(), JobFailure> {
    let sweep = move |tx: &mut PlatformTx<'_>| -> Result<(), munshi_identity::Error> {
        login_backoff::sweep(tx, now)?;
        sign_ins::sweep(tx, now)?;
        links::sweep(tx, now)?;
        Ok(())
    };
    db.platform(OPERATORS).write(sweep).await.map_err(to_transient_failure)?;
    let forget = move |tx: &mut PlatformTx<'_>| rate_limits::sweep(tx, now).map(drop);
    db.platform(LIMITS).write(forget).await.map_err(to_transient_failure)?;
    let forget = move |tx: &mut PlatformTx<'_>| requests::sweep(tx, now).map(drop);
    db.platform(REQUESTS).write(forget).await.map_err(to_transient_failure)?;
    let forget = move |tx: &mut PlatformTx<'_>| proposals::sweep(tx, now).map(drop);
    db.platform(PROPOSALS).write(forget).await.map_err(to_transient_failure)?;
    let forget = move |tx: &mut PlatformTx<'_>| delivery::sweep(tx, now).map(drop);
    db.platform(DELIVERIES).write(forget).await.map_err(to_transient_failure)
}

fn to_transient_failure(error: impl std::fmt::Display) -> JobFailure {
    JobFailure::Passing(error.to_string())
}
