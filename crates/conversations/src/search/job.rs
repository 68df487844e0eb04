//! When indexes are filled: soon after some messages of a conversation, every few minutes where anything came, and once a night
//! with a look whether all of it is there.

use std::sync::Arc;
use std::time::Duration;

use munshi_jobs::schedule::{self, Schedule, ScheduleRule};
use munshi_jobs::{Job, JobFailure, JobKind, JobQueue, JobRegistry, NewJob, Priority};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Cursor, Db, PageRequest, PlatformTx, Tx, params};
use munshi_types::{Clock, TenantId, TenantStatus, Timestamp, Zone};
use uuid::Uuid;

use super::OVERLAP;
use super::fill::{FillOutcome, FillScope, FillTask, SearchFiller};
use crate::error::Result;

/// Fills one tenant's index.
pub const FILL: &str = "messages.index";
/// Looks which tenants' indexes are behind.
const LOOK: &str = "messages.index_new";
/// Has every tenant's index looked through.
pub const CHECK: &str = "messages.index_check";

const LOOK_EVERY: Duration = Duration::from_secs(300);
/// While most of the country sleeps, after the archive has taken what is old.
const CHECK_AT: &str = "50 3 * * *";
/// After so many messages of one conversation its tenant's index is filled: many at once cost less than each by itself.
const DUE: i64 = 64;
const PAGE: u32 = 100;
/// So long a job is at one tenant's index: others wait for it, since one is filled at a time.
const SLICE: Duration = Duration::from_secs(15);

/// Whether the reply of this number in its session is one after which the index is filled. Most have every second number, be it
/// the even ones or the odd.
pub(crate) const fn is_fill_due(number: i64) -> bool {
    number % DUE < 2
}

/// Makes the job of one tenant, unless there is one.
pub(crate) fn enqueue_fill(tx: &mut Tx<'_>, queue: &JobQueue, scope: FillScope) -> Result<()> {
    enqueue_task(tx, queue, FillTask::new(scope))
}

fn enqueue_task(tx: &mut Tx<'_>, queue: &JobQueue, task: FillTask) -> Result<()> {
    let job = NewJob::new(FILL, &task)?.priority(Priority::Background);
    // A look through everything is not kept out by one at what is new.
    let key = if task.scope() == FillScope::New { "new" } else { "everything" };
    queue.enqueue(tx, &job.unique(key))?;
    Ok(())
}

/// Teaches a runner to fill.
pub fn install(registry: &mut JobRegistry, db: &Db, clock: &Arc<dyn Clock>, queue: &JobQueue) {
    let filler = SearchFiller { db: db.clone(), clock: clock.clone() };
    let (filler_of_fill, queue_of_fill) = (filler.clone(), queue.clone());
    registry.add(JobKind::new(FILL).limit(1), move |job| {
        let (filler, queue) = (filler_of_fill.clone(), queue_of_fill.clone());
        async move { run(&filler, &queue, &job).await }
    });
    for (kind, scope) in [(LOOK, FillScope::New), (CHECK, FillScope::Everything)] {
        let (filler, queue) = (filler.clone(), queue.clone());
        registry.add(JobKind::new(kind).limit(1), move |job| {
            let (filler, queue) = (filler.clone(), queue.clone());
            async move { look_through_tenants(&filler, &queue, (scope, &job)).await }
        });
    }
}

/// Sets the schedules; again at every start, which changes nothing.
pub async fn set_schedules(db: &Db, clock: &dyn Clock) -> Result<()> {
    let nothing = serde_json::json!({});
    let look = Schedule::new(LOOK, LOOK, &nothing, ScheduleRule::every(LOOK_EVERY)?)?;
    let check = Schedule::new(CHECK, CHECK, &nothing, ScheduleRule::cron(CHECK_AT)?)?;
    let now = clock.now();
    let set = move |tx: &mut Tx<'_>| -> Result<()> {
        for schedule in [look, check] {
            schedule::set(tx, &schedule, &Zone::default(), now)?;
        }
        Ok(())
    };
    db.write(TenantId::PLATFORM, set).await
}

/// For some time; what is left then waits behind the jobs of other tenants.
async fn run(filler: &SearchFiller, queue: &JobQueue, job: &Job) -> Result<(), JobFailure> {
    let until = filler.clock.now().plus(SLICE);
    let is_stopped = || job.cancelled.is_cancelled() || filler.clock.now() >= until;
    let FillOutcome { added, rest } = filler.fill_slice(job.tenant, job.read()?, is_stopped).await?;
    if job.cancelled.is_cancelled() {
        return Err(JobFailure::Passing("job cancelled".to_owned()));
    }
    tracing::debug!(tenant = %job.tenant, added, "search index filled");
    let Some(rest) = rest else { return Ok(()) };
    let (queue, lease, now) = (queue.clone(), job.lease, filler.clock.now());
    let go_on = move |tx: &mut Tx<'_>| -> Result<()> {
        lease.complete(tx, now)?;
        enqueue_task(tx, &queue, rest)
    };
    Ok(filler.db.write(job.tenant, go_on).await?)
}

/// Makes the job of every tenant that has something for it. One that is paused or archived has no jobs done; a key that expired
/// goes all the same, and its index is filled again once it is resumed.
async fn look_through_tenants(
    filler: &SearchFiller,
    queue: &JobQueue,
    (scope, job): (FillScope, &Job),
) -> Result<(), JobFailure> {
    let is_stopped = || job.cancelled.is_cancelled();
    let mut after: Option<Cursor> = None;
    loop {
        let request = PageRequest::new(after.take(), PAGE);
        let list = move |tx: &mut PlatformTx<'_>| tenants::list(tx, &request);
        let page = filler.db.platform(TENANTS).read(list).await?;
        for tenant in page.items {
            if is_stopped() {
                return Err(JobFailure::Passing("job cancelled".to_owned()));
            }
            if scope == FillScope::Everything && tenant.status != TenantStatus::Active {
                filler.clear_expired(tenant.id, is_stopped).await?;
            }
            if tenant.status != TenantStatus::Archived {
                enqueue_if_wanted(filler, queue, (tenant.id, scope)).await?;
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn enqueue_if_wanted(
    filler: &SearchFiller,
    queue: &JobQueue,
    (tenant, scope): (TenantId, FillScope),
) -> Result<()> {
    let now = filler.clock.now();
    let is_wanted = match scope {
        FillScope::New => filler.db.read(tenant, move |tx| is_behind(tx, now)).await?,
        FillScope::Everything => filler.db.read(tenant, is_kept).await?,
    };
    if is_wanted {
        let queue = queue.clone();
        filler.db.write(tenant, move |tx| enqueue_fill(tx, &queue, scope)).await?;
    }
    Ok(())
}

/// Whether anything came since the index was filled that it lacks, or it is to be built anew.
fn is_behind(tx: &mut Tx<'_>, now: Timestamp) -> Result<bool> {
    let filled = munshi_index::find_state(tx)?.map_or(Cursor::OLDEST, |state| state.filled);
    // Filled further than now, it was by a wrong clock.
    if munshi_index::needs_clearing(tx)? || filled.time > now.plus(OVERLAP) {
        return Ok(true);
    }
    let since: Vec<Uuid> = tx.all(
        "SELECT id FROM messages WHERE tenant_id = $1 AND (said_at, id) > ($2, $3) ORDER BY said_at, id LIMIT $4",
        params![filled.time, filled.id, DUE],
        |row| row.get(0),
    )?;
    Ok(since.len() as i64 == DUE || !munshi_index::list_unknown(tx, &since)?.is_empty())
}

/// Whether there is anything to look through: messages, or what is left of somebody's who was forgotten.
fn is_kept(tx: &mut Tx<'_>) -> Result<bool> {
    if munshi_index::is_key_expired(tx)? {
        return Ok(true);
    }
    let found = tx.optional("SELECT 1 FROM messages WHERE tenant_id = $1 LIMIT 1", &[], |_| Ok(()))?;
    Ok(found.is_some())
}
