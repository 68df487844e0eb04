//! Which work this process knows how to do.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::backoff::Backoff;
use crate::error::JobFailure;
use crate::job::Job;
use crate::schedule::Schedule;

pub(crate) type JobHandler = Arc<dyn Fn(Job) -> BoxFuture<'static, Result<(), JobFailure>> + Send + Sync>;

/// A kind of work and its rules in this process.
#[derive(Clone, Copy, Debug)]
pub struct JobKind {
    name: &'static str,
    limit: usize,
    is_beside: bool,
    tenant_share: usize,
    backoff: Backoff,
}

impl JobKind {
    pub const fn new(name: &'static str) -> Self {
        let backoff = Backoff {
            first: std::time::Duration::from_secs(5),
            longest: std::time::Duration::from_secs(3600),
        };
        Self { name, limit: usize::MAX, is_beside: false, tenant_share: usize::MAX, backoff }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// At most this many of the kind run at once on one node.
    pub const fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// At most this many run at once on one node, and none of them takes a worker: for work that mostly waits for somebody else's
    /// server.
    pub const fn beside_workers(self, limit: usize) -> Self {
        Self { limit, is_beside: true, ..self }
    }

    /// Of those that take no worker, at most this many of one tenant: its slow servers hold up no other tenant's work.
    pub const fn tenant_share(self, tenant_share: usize) -> Self {
        Self { tenant_share, ..self }
    }

    pub const fn backoff(self, backoff: Backoff) -> Self {
        Self { backoff, ..self }
    }
}

/// The kinds of work, each with what does it. A kind that is not here is left for a node that knows it.
#[derive(Clone, Default)]
pub struct JobRegistry {
    kinds: BTreeMap<&'static str, JobHandlerEntry>,
    tenant_schedules: Vec<Schedule>,
}

#[derive(Clone)]
pub(crate) struct JobHandlerEntry {
    pub(crate) limit: usize,
    /// It takes no worker.
    pub(crate) is_beside: bool,
    pub(crate) tenant_share: usize,
    pub(crate) backoff: Backoff,
    pub(crate) handler: JobHandler,
}

impl JobRegistry {
    /// The handler may run again after a crash: it finishes its job inside the transaction of its effect
    /// (`job.lease.done(tx, now)`), or its effect bears repeating. When it returns `Ok` without having finished
    /// the job, the runner does.
    pub fn add<F, R>(&mut self, kind: JobKind, handler: F)
    where
        F: Fn(Job) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), JobFailure>> + Send + 'static,
    {
        let handler: JobHandler = Arc::new(move |job| handler(job).boxed());
        let JobKind { name, limit, is_beside, tenant_share, backoff } = kind;
        self.kinds.insert(name, JobHandlerEntry { limit, is_beside, tenant_share, backoff, handler });
    }

    pub fn has_kind(&self, kind: &str) -> bool {
        self.kinds.contains_key(kind)
    }

    /// A schedule that every active tenant has, in its own zone unless the schedule names one. The runner gives it to tenants
    /// that lack it, and takes it from all when no process knows it any more.
    pub fn add_tenant_schedule(&mut self, schedule: Schedule) {
        self.tenant_schedules.push(schedule);
    }

    pub(crate) fn tenant_schedules(&self) -> &[Schedule] {
        &self.tenant_schedules
    }

    pub(crate) fn get(&self, kind: &str) -> Option<&JobHandlerEntry> {
        self.kinds.get(kind)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &JobHandlerEntry)> {
        self.kinds.iter().map(|(name, entry)| (*name, entry))
    }
}
