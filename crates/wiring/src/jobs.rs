//! The job runner, with every kind of work there is and when it is due.

use std::sync::Arc;
use std::time::Duration;

use munshi_blobs::SweepJob;
use munshi_channels::incoming::ArrivalTaker;
use munshi_config::Config;
use munshi_conversations::reach::{NewsTeller, NewsTellerParts};
use munshi_jobs::{JobQueue, JobRegistry, JobRunner};
use munshi_pack::PackJobParts;
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator, SystemRandom};
use tokio_util::task::TaskTracker;

use crate::engine::ConfiguredEngine;
use crate::failure::{CommandFailure, Result};
use crate::{account, audit, blobs, budget, erasure, housekeeping, packs, tools};

pub async fn build_runner(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    queue: &JobQueue,
    turns: &ConfiguredEngine,
) -> Result<JobRunner> {
    let options = munshi_jobs::JobRunnerOptions {
        workers: config.job_workers() + config.background_places(),
        poll: config.jobs.poll,
        lease: config.jobs.lease,
        keep_done: config.jobs.keep_done,
        grace: config.server.shutdown_grace,
    };
    set_schedules(db, clock.as_ref()).await?;
    let registry = register_kinds(config, db, clock, queue, turns)?;
    Ok(JobRunner::new(db.clone(), queue, Arc::new(SystemRandom), registry, options))
}

/// Has every kind of work run when it is due, on one node. A crate whose work comes by the clock adds its own here.
async fn set_schedules(db: &Db, clock: &dyn Clock) -> Result<()> {
    budget::schedule(db, clock).await?;
    tools::schedule(db, clock).await?;
    munshi_conversations::rollups::job::set_schedule(db, clock).await?;
    munshi_conversations::search::job::set_schedules(db, clock).await?;
    NewsTeller::set_schedule(db, clock).await?;
    munshi_safety::audit::set_schedules(db, clock).await?;
    munshi_erasure::set_schedule(db, clock).await?;
    housekeeping::schedule(db, clock).await
}

/// Every kind of work there is. A crate that has jobs adds its own here, before those of packs.
fn register_kinds(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    queue: &JobQueue,
    turns: &ConfiguredEngine,
) -> Result<JobRegistry> {
    let mut registry = JobRegistry::default();
    let anchoring = audit::build_anchor_service(config, db.clone(), queue.clone(), clock.clone())?;
    munshi_safety::audit::install(&mut registry, &Arc::new(anchoring));
    budget::register(&mut registry, config, db, clock.clone());
    tools::register(&mut registry, turns.engine.clone());
    turns.engine.install(&mut registry, turns.engine.summariser());
    turns.engine.install_background(&mut registry, config.background_places(), turns.pack_services.clone());
    SweepJob(blobs::build(config, db, clock)?).install(&mut registry)?;
    munshi_erasure::install(erasure::build(db, clock)?, &mut registry);
    housekeeping::register(&mut registry, config, db, clock)?;
    munshi_conversations::rollups::job::install(&mut registry, db, clock);
    munshi_conversations::search::job::install(&mut registry, db, clock, queue);
    build_arrival_taker(config, db, clock, queue, turns)?.install(&mut registry);
    build_news_teller(config, db, clock, queue, turns)?.install(&mut registry);
    let parts = PackJobParts {
        db: db.clone(),
        clock: clock.clone(),
        ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
        queue: queue.clone(),
        services: turns.pack_services.clone(),
    };
    let registered = packs::load_registry()?.register_jobs(&mut registry, &parts);
    registered.map_err(|bad| CommandFailure::failed(bad.to_string()))?;
    Ok(registry)
}

/// What takes in what people write through channels.
fn build_arrival_taker(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    queue: &JobQueue,
    turns: &ConfiguredEngine,
) -> Result<ArrivalTaker> {
    Ok(ArrivalTaker {
        db: db.clone(),
        queue: queue.clone(),
        clock: clock.clone(),
        ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
        accounts: turns.senders.clone(),
        receiver: turns.receiver.clone(),
        blobs: blobs::build(config, db, clock)?,
        signs: TaskTracker::new(),
    })
}

/// What tells tenants' people of what waits for them.
fn build_news_teller(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    queue: &JobQueue,
    turns: &ConfiguredEngine,
) -> Result<NewsTeller> {
    Ok(NewsTeller::new(NewsTellerParts {
        db: db.clone(),
        queue: queue.clone(),
        clock: clock.clone(),
        ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
        senders: Arc::new(turns.senders.clone()),
        act_services: turns.act_services.clone(),
        logins: Arc::new(turns.host.clone()),
        packs: packs::load_registry()?,
        public_url: account::public_url(config),
        next_after: Duration::from_secs(config.alerts.next_after_minutes as u64 * 60),
    }))
}
