//! Work that a pack does by itself: jobs of its own kinds, in the queue that everything else uses.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use munshi_jobs::{Job, JobFailure, JobKind, JobLease, JobQueue, NewJob};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PlatformTx, Tx};
use munshi_types::{Clock, DeliveryId, IdGenerator, Tenant, TenantStatus, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::delivery::{self, PackDelivery};
use crate::job_queue::{self, PackJobQueue};
use crate::services::PackServices;

/// A kind of job. It writes the pack's own tables, and may ask a model or another server; it sends nothing and calls no tool.
pub trait PackJob: Send + Sync + 'static {
    /// Its name is the pack's, a dot and a plain word: `board.sweep`.
    const KIND: JobKind;

    /// What a job is told. Stored as JSON: a later version of the pack may read what an earlier one wrote.
    type Payload: Serialize + DeserializeOwned + Send + 'static;

    /// Does one job of one tenant. It may run again after a crash or a failure: end the job in the transaction of its effect
    /// ([`PackJobCall::finish`]), or let the effect bear repeating.
    fn run(&self, call: PackJobCall<Self::Payload>) -> impl Future<Output = Result<(), JobFailure>> + Send;

    /// A job to enqueue, with a unique key or a time of its own where it should have one.
    fn request(payload: &Self::Payload) -> munshi_store::Result<NewJob> {
        NewJob::new(Self::KIND.name(), payload)
    }
}

/// One job, as the pack gets it.
pub struct PackJobCall<P> {
    /// Whose job it is; its zone says when its days begin.
    pub tenant: Tenant,
    pub payload: P,
    /// When this try began.
    pub now: Timestamp,
    /// 1 the first time.
    pub attempt: u32,
    pub ids: IdGenerator,
    /// For jobs of the pack that this one leads to.
    pub queue: PackJobQueue,
    pub services: PackServices,
    db: Db,
    clock: Arc<dyn Clock>,
    lease: JobLease,
    cancelled: CancellationToken,
    /// What is handled with the job's end, where it is a delivery.
    delivery: Option<DeliveryId>,
    /// Whether the job was ended here.
    finished: AtomicBool,
}

impl<P> PackJobCall<P> {
    /// The same job, told something else.
    pub(crate) fn with_payload<Q>(self, payload: Q) -> PackJobCall<Q> {
        PackJobCall {
            tenant: self.tenant,
            payload,
            now: self.now,
            attempt: self.attempt,
            ids: self.ids,
            queue: self.queue,
            services: self.services,
            db: self.db,
            clock: self.clock,
            lease: self.lease,
            cancelled: self.cancelled,
            delivery: self.delivery,
            finished: self.finished,
        }
    }

    /// The same job in the name of a pack, whose own jobs it may lead to.
    pub(crate) fn for_pack(self, pack: &str) -> Self {
        Self { queue: self.queue.with_pack(pack), ..self }
    }

    /// The same job; when it ends, the delivery has been handled.
    pub(crate) fn for_delivery(self, delivery: PackDelivery) -> PackJobCall<PackDelivery> {
        let id = delivery.id;
        PackJobCall { delivery: Some(id), ..self.with_payload(delivery) }
    }

    pub(crate) const fn db(&self) -> &Db {
        &self.db
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::SeqCst)
    }

    pub async fn read<T, F>(&self, unit: F) -> Result<T, JobFailure>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, JobFailure> + Send + 'static,
        T: Send + 'static,
    {
        self.db.read(self.tenant.id, unit).await
    }

    /// Writes a part of the work, only while the job is this worker's. The job goes on.
    pub async fn write<T, F>(&self, unit: F) -> Result<T, JobFailure>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, JobFailure> + Send + 'static,
        T: Send + 'static,
    {
        let lease = self.lease;
        let unit = move |tx: &mut Tx<'_>| {
            lease.verify(tx)?;
            unit(tx)
        };
        self.db.write(self.tenant.id, unit).await
    }

    /// Writes the last of the work and ends the job in the same transaction, so that it happens once. If another worker has
    /// the job by now, nothing is written.
    pub async fn finish<T, F>(&self, unit: F) -> Result<T, JobFailure>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, JobFailure> + Send + 'static,
        T: Send + 'static,
    {
        let (lease, now, delivery) = (self.lease, self.clock.now(), self.delivery);
        let unit = move |tx: &mut Tx<'_>| {
            lease.complete(tx, now)?;
            if let Some(delivery) = delivery {
                let is_ours = delivery::mark_handled(tx, delivery, now)?;
                if !is_ours {
                    return Err(JobFailure::Passing("another job has handled the delivery".to_owned()));
                }
            }
            unit(tx)
        };
        let done = self.db.write(self.tenant.id, unit).await?;
        self.finished.store(true, Ordering::SeqCst);
        Ok(done)
    }

    /// False once the job was given to another worker, or the process stops: then leave off. Long work asks between steps.
    pub fn is_leased(&self) -> bool {
        !self.cancelled.is_cancelled()
    }
}

/// What jobs of packs are run with.
#[derive(Clone)]
pub struct PackJobParts {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub queue: JobQueue,
    pub services: PackServices,
}

pub(crate) type PackJobHandler =
    Arc<dyn Fn(PackJobParts, Job) -> BoxFuture<'static, Result<(), JobFailure>> + Send + Sync>;

/// A kind of job that a pack brought.
#[derive(Clone)]
pub struct PackJobEntry {
    pub pack: &'static str,
    pub kind: JobKind,
    pub(crate) handler: PackJobHandler,
}

impl PackJobEntry {
    pub(crate) fn new<J: PackJob>(pack: &'static str, job: J) -> Self {
        let job = Arc::new(job);
        let handler: PackJobHandler =
            Arc::new(move |parts, claimed| run_one(job.clone(), pack, parts, claimed).boxed());
        Self { pack, kind: J::KIND, handler }
    }
}

async fn run_one<J: PackJob>(
    job: Arc<J>,
    pack: &'static str,
    parts: PackJobParts,
    claimed: Job,
) -> Result<(), JobFailure> {
    let read = job_queue::read_payload(&claimed.payload);
    let (payload, is_foreign) = read.map_err(|error| JobFailure::Lasting(error.to_string()))?;
    let tenant = find_active_tenant(&parts.db, &claimed).await?;
    let services = parts.services.for_call(&tenant);
    if is_foreign {
        services.mark_foreign();
    }
    let call = PackJobCall {
        tenant,
        payload,
        now: parts.clock.now(),
        attempt: claimed.attempt,
        ids: parts.ids,
        queue: PackJobQueue::for_call(pack, parts.queue, &services),
        services,
        db: parts.db,
        clock: parts.clock,
        lease: claimed.lease,
        cancelled: claimed.cancelled,
        delivery: None,
        finished: AtomicBool::new(false),
    };
    job.run(call).await
}

/// The tenant of a job; one that was closed meanwhile has no more work.
async fn find_active_tenant(db: &Db, claimed: &Job) -> Result<Tenant, JobFailure> {
    let id = claimed.tenant;
    let find = move |tx: &mut PlatformTx<'_>| tenants::find(tx, id).map_err(JobFailure::from);
    match db.platform(TENANTS).read(find).await? {
        Some(tenant) if tenant.status != TenantStatus::Archived => Ok(tenant),
        _ => Err(JobFailure::Lasting(format!("tenant {id} is gone"))),
    }
}
