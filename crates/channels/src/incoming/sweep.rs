//! What of the past goes by itself, for each tenant every night.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use munshi_jobs::schedule::{Schedule, ScheduleRule};
use munshi_jobs::{Job, JobFailure, JobKind, JobRegistry};
use munshi_store::{Db, Result, Tx, params};
use munshi_types::{Clock, Timestamp};

/// Its kind, and the name of its schedule.
pub const SWEEP: &str = "channels.sweep";

/// What could not be taken in is kept so long for whoever looks why.
const BODY_LIFE: Duration = Duration::from_secs(30 * 86_400);
/// That something came is known so long: no provider tells it again after that.
const ROW_LIFE: Duration = Duration::from_secs(90 * 86_400);
/// So many go at once, so that nobody waits for it.
const BATCH: i64 = 1000;

/// Empties and removes what ended long ago.
#[derive(Clone)]
pub struct ArrivalSweeper {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
}

impl ArrivalSweeper {
    pub fn install(&self, registry: &mut JobRegistry) -> munshi_jobs::Result<()> {
        let sweeper = self.clone();
        registry.add(JobKind::new(SWEEP).limit(1), move |job| {
            let sweeper = sweeper.clone();
            async move { sweeper.run(&job).await }
        });
        let rule = ScheduleRule::cron("40 3 * * *")?;
        registry.add_tenant_schedule(Schedule::new(SWEEP, SWEEP, &serde_json::json!({}), rule)?);
        Ok(())
    }

    async fn run(&self, job: &Job) -> Result<(), JobFailure> {
        let now = self.clock.now();
        while !job.cancelled.is_cancelled() {
            let sweep = move |tx: &mut Tx<'_>| sweep(tx, now);
            if self.db.write(job.tenant, sweep).await? == 0 {
                return Ok(());
            }
        }
        Err(JobFailure::Passing("job cancelled".to_owned()))
    }
}

/// The next of them; says how many there were, and none once all is done.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64> {
    let removed = tx.execute(
        "DELETE FROM channel_arrivals WHERE tenant_id = $1 AND id IN (
           SELECT id FROM channel_arrivals WHERE tenant_id = $1 AND ended_at < $2 ORDER BY ended_at LIMIT $3)",
        params![now.minus(ROW_LIFE), BATCH],
    )?;
    let emptied = tx.execute(
        "UPDATE channel_arrivals SET body = NULL, detail = NULL, senders = NULL
         WHERE tenant_id = $1 AND id IN (
           SELECT id FROM channel_arrivals WHERE tenant_id = $1 AND ended_at < $2 AND body IS NOT NULL
           ORDER BY ended_at LIMIT $3)",
        params![now.minus(BODY_LIFE), BATCH],
    )?;
    Ok(removed + emptied)
}

impl fmt::Debug for ArrivalSweeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrivalSweeper").finish_non_exhaustive()
    }
}
