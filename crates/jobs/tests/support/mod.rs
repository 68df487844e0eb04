//! A runner on a test database, and handlers that record what they did.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_jobs::{
    JOBS, Job, JobFailure, JobKind, JobQueue, JobRegistry, JobRunner, JobRunnerOptions, JobState, JobView,
    NewJob, Result, dead_letters,
};
use munshi_store::{Db, Migration, PageRequest, Tx, params};
use munshi_test_support::TestDb;
use munshi_types::{Clock, IdGenerator, SeededRandom, TenantId};

/// Where jobs leave their effect.
pub(crate) const EFFECTS: &[Migration] = &[Migration {
    name: "9001_effects",
    text: "CREATE TENANT TABLE effects (tenant_id UUID NOT NULL, job UUID NOT NULL, note TEXT NOT NULL);",
}];

/// What ran, in order.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

pub(crate) fn queue(test: &TestDb) -> JobQueue {
    JobQueue::new(test.clock.clone(), test.ids.clone())
}

pub(crate) fn quick() -> JobRunnerOptions {
    JobRunnerOptions { grace: Duration::from_millis(200), ..JobRunnerOptions::default() }
}

pub(crate) fn runner(
    db: &Db,
    queue: &JobQueue,
    registry: JobRegistry,
    options: JobRunnerOptions,
) -> JobRunner {
    JobRunner::new(db.clone(), queue, Arc::new(SeededRandom::new(7)), registry, options)
}

/// A kind whose jobs only write their payload into the log.
pub(crate) fn logging(log: &Log) -> JobRegistry {
    let (mut registry, log) = (JobRegistry::default(), log.clone());
    registry.add(JobKind::new("note"), move |job| {
        let log = log.clone();
        async move {
            log.lock().unwrap().push(job.read::<String>()?);
            Ok(())
        }
    });
    registry
}

pub(crate) fn note(text: &str) -> NewJob {
    NewJob::new("note", &text).unwrap()
}

pub(crate) async fn enqueue(db: &Db, queue: &JobQueue, tenant: TenantId, job: NewJob) -> munshi_types::JobId {
    let queue = queue.clone();
    db.write(tenant, move |tx| queue.enqueue(tx, &job)).await.unwrap().id()
}

pub(crate) async fn jobs_in(db: &Db, state: JobState) -> Vec<JobView> {
    let request = PageRequest::new(None, 500);
    db.platform(JOBS).read(move |tx| dead_letters::list(tx, state, None, &request)).await.unwrap().items
}

/// Writes the effect and ends the job in one transaction.
pub(crate) fn effect(tx: &mut Tx<'_>, job: &Job, clock: &dyn Clock) -> Result<()> {
    tx.execute("INSERT INTO effects (tenant_id, job, note) VALUES ($1, $2, '')", params![job.id])?;
    job.lease.complete(tx, clock.now())
}

pub(crate) async fn effects(db: &Db, tenant: TenantId) -> i64 {
    let sql = "SELECT count(*) FROM effects WHERE tenant_id = $1";
    db.read(tenant, move |tx| tx.one(sql, &[], |row| row.get(0)))
        .await
        .unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
}

pub(crate) fn passing(why: &str) -> JobFailure {
    JobFailure::Passing(why.to_owned())
}

pub(crate) fn system_queue() -> JobQueue {
    JobQueue::new(Arc::new(munshi_types::SystemClock), IdGenerator::system())
}
