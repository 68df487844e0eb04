//! The queue in the database.
//!
//! A job is a row, enqueued in the caller's own transaction: it exists if and only if what it belongs to does. Workers
//! claim rows under a lease, renew it while they run, and finish the job in the transaction of its effect. A process
//! that dies leaves leases that end; its jobs are picked up again, and an effect recorded with its job's end happens
//! once. Wake-ups in memory make it quick; polling makes it true.
//!
//! Not here: what jobs do. Each crate registers its kinds with a [`JobRegistry`].
//!
//! # Layout
//! - [`JobQueue`], [`NewJob`]: putting work in; [`JobRegistry`], [`JobKind`]: who does it; [`JobRunner`]: the loop
//! - [`Job`], [`JobLease`]: what a handler holds; [`JobFailure`]: how it says that it could not
//! - `claim`: fairness between tenants; `upkeep`: retries, lost leases, sweeping; [`schedule`]: jobs by the clock, of one tenant or of every one
//! - [`dead_letters`]: lists for people, and running dead jobs again
//!
//! # To add a kind of job
//! ```
//! # use munshi_jobs::{JobFailure, JobKind, JobRegistry};
//! # fn install(registry: &mut JobRegistry) {
//! registry.add(JobKind::new("archive").limit(2), |job| async move {
//!     let payload: serde_json::Value = job.read()?;
//!     // db.write(job.tenant, move |tx| { …the effect…; job.lease.done(tx, now) }).await?;
//! #   let _ = payload;
//!     Ok::<(), JobFailure>(())
//! });
//! # }
//! ```

mod backoff;
mod claim;
pub mod dead_letters;
mod error;
mod job;
mod job_task;
mod lease;
mod meter;
mod queue;
mod registry;
mod runner;
mod running_jobs;
pub mod schedule;
mod upkeep;

pub use backoff::Backoff;
pub use error::{Error, JobFailure, Result};
pub use job::{EnqueueOutcome, JOBS_OF_BEFORE, Job, JobState, JobView, NewJob, Priority};
pub use lease::JobLease;
pub use queue::{JobQueue, delete_by_key, is_open};
pub use registry::{JobKind, JobRegistry};
pub use runner::{JobRunner, JobRunnerOptions};
pub use upkeep::{QueueDepth, load_queue_depth};

use munshi_store::{Migration, PlatformScope, migration};

/// Claiming and keeping the queue, across tenants.
pub const JOBS: PlatformScope = PlatformScope::new("jobs");

pub const MIGRATIONS: &[Migration] = &[migration!("0003_jobs")];
