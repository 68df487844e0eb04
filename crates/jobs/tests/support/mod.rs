//! A runner on a test database, and handlers that record what they did.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_jobs::{
    Failure, JOBS, Job, JobView, Kind, NewJob, Options, Queue, Registry, Result, Runner, State, letters,
};
use munshi_store::{Db, Migration, PageRequest, Tx, params};
use munshi_test_support::TestDb;
use munshi_types::{Clock, Ids, SeededRandom, TenantId};

/// Where jobs leave their effect.
pub(crate) const EFFECTS: &[Migration] = &[Migration {
    name: "9001_effects",
    text: "CREATE TENANT TABLE effects (tenant_id UUID NOT NULL, job UUID NOT NULL, note TEXT NOT NULL);",
}];

/// What ran, in order.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

pub(crate) fn queue(test: &TestDb) -> Queue {
    Queue::new(test.clock.clone(), test.ids.clone())
}

pub(crate) fn quick() -> Options {
    Options { grace: Duration::from_millis(200), ..Options::default() }
}

pub(crate) fn runner(db: &Db, queue: &Queue, registry: Registry, options: Options) -> Runner {
    Runner::new(db.clone(), queue, Arc::new(SeededRandom::new(7)), registry, options)
}

/// A kind whose jobs only write their payload into the log.
pub(crate) fn logging(log: &Log) -> Registry {
    let (mut registry, log) = (Registry::default(), log.clone());
    registry.add(Kind::new("note"), move |job| {
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

pub(crate) async fn enqueue(db: &Db, queue: &Queue, tenant: TenantId, job: NewJob) -> munshi_types::JobId {
    let queue = queue.clone();
    db.write(tenant, move |tx| queue.enqueue(tx, &job)).await.unwrap().id()
}

pub(crate) async fn jobs_in(db: &Db, state: State) -> Vec<JobView> {
    let request = PageRequest::new(None, 500);
    db.platform(JOBS).read(move |tx| letters::list(tx, state, None, &request)).await.unwrap().items
}

/// Writes the effect and ends the job in one transaction.
pub(crate) fn effect(tx: &mut Tx<'_>, job: &Job, clock: &dyn Clock) -> Result<()> {
    tx.execute("INSERT INTO effects (tenant_id, job, note) VALUES ($1, $2, '')", params![job.id])?;
    job.lease.done(tx, clock.now())
}

pub(crate) async fn effects(db: &Db, tenant: TenantId) -> i64 {
    let sql = "SELECT count(*) FROM effects WHERE tenant_id = $1";
    db.read(tenant, move |tx| tx.one(sql, &[], |row| row.get(0)))
        .await
        .unwrap_or_else(|error: munshi_store::Error| panic!("{error}"))
}

pub(crate) fn passing(why: &str) -> Failure {
    Failure::Passing(why.to_owned())
}

pub(crate) fn system_queue() -> Queue {
    Queue::new(Arc::new(munshi_types::SystemClock), Ids::system())
}
