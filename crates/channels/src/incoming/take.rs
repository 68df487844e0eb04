//! The job that takes in what came.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use munshi_blobs::BlobService;
use munshi_jobs::{Backoff, Job, JobFailure, JobKind, JobQueue, JobRegistry};
use munshi_store::{Db, Tx};
use munshi_types::{Clock, IdGenerator, TenantId};
use tokio_util::task::TaskTracker;

use super::event::{ChannelEvent, ChannelHappening};
use super::receiver::{MessageReceiver, ReceiveFault};
use super::rows::{self, ArrivalEnding, ArrivalPayload, KIND, TRIES, WaitingArrival};
use crate::error::Error;
use crate::link::ChannelLink;
use crate::senders::ChannelSenders;

/// Somebody waits for an answer, so the first pauses are short; a provider may be away for hours.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(900) };

/// So many are taken in at once on a node.
const AT_ONCE: usize = 16;

/// Takes in what came through the accounts of every tenant.
#[derive(Clone)]
pub struct ArrivalTaker {
    pub db: Db,
    pub queue: JobQueue,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub accounts: ChannelSenders,
    pub receiver: Arc<dyn MessageReceiver>,
    pub blobs: BlobService,
    /// The signs in chats that somebody works on a message.
    pub signs: TaskTracker,
}

/// What is being taken in, with the account that it came by.
pub(super) struct Taking<'a> {
    pub tenant: TenantId,
    pub arrival: &'a WaitingArrival,
    pub link: &'a Arc<dyn ChannelLink>,
    /// Nothing is tried again after this.
    pub is_last_try: bool,
}

/// Why something is not taken in this time.
pub(super) enum TakeFault {
    /// It is tried again.
    Passing(String),
    Ended(ArrivalEnding),
}

enum Turn {
    /// Taken in before, or behind another whose end makes a new job for it.
    Nothing,
    Take(WaitingArrival, Box<ChannelEvent>),
    /// What it said has gone.
    Gone(WaitingArrival),
}

impl ArrivalTaker {
    pub fn install(&self, registry: &mut JobRegistry) {
        let taker = self.clone();
        registry.add(JobKind::new(KIND).limit(AT_ONCE).backoff(BACKOFF), move |job| {
            let taker = taker.clone();
            async move { taker.take(&job).await }
        });
    }

    async fn take(&self, job: &Job) -> Result<(), JobFailure> {
        let (arrival, event) = match self.find_turn(job).await? {
            Turn::Nothing => return Ok(()),
            Turn::Gone(arrival) => {
                let ending = ArrivalEnding::Failed("what it said is gone".to_owned());
                return self.end(job, arrival, ending).await;
            }
            Turn::Take(arrival, event) => (arrival, event),
        };
        let is_last_try = job.attempt >= TRIES;
        let outcome = self.take_event(job.tenant, &arrival, *event, is_last_try).await;
        match outcome {
            Ok(()) => self.end(job, arrival, ArrivalEnding::Taken).await,
            Err(TakeFault::Ended(ending)) => self.end(job, arrival, ending).await,
            Err(TakeFault::Passing(why)) if is_last_try => {
                self.end(job, arrival, ArrivalEnding::Failed(why)).await
            }
            Err(TakeFault::Passing(why)) => Err(JobFailure::Passing(why)),
        }
    }

    /// Looks whether it is its turn, and writes down that it is taken in now.
    async fn find_turn(&self, job: &Job) -> Result<Turn, Error> {
        let payload: ArrivalPayload = job.read().map_err(|error| Error::Invalid(error.to_string()))?;
        let (lease, id, now) = (job.lease, job.id, self.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            lease.verify(tx)?;
            let Some(waiting) = rows::find_waiting(tx, payload.arrival)? else {
                lease.complete(tx, now)?;
                return Ok(Turn::Nothing);
            };
            let lane = rows::lock_lane(tx, waiting.lane)?;
            let Some(own) = lane.iter().find(|one| one.id == waiting.id) else {
                lease.complete(tx, now)?;
                return Ok(Turn::Nothing);
            };
            let is_first = lane.first().is_some_and(|head| head.id == own.id);
            // Another job of its own may be at it, since more than one is made for it at times.
            let other = own.job.filter(|other| *other != id);
            let is_taken = match other {
                Some(other) => munshi_jobs::is_open(tx, other)?,
                None => false,
            };
            if !is_first || is_taken {
                lease.complete(tx, now)?;
                return Ok(Turn::Nothing);
            }
            rows::mark_taking(tx, own.id, id)?;
            Ok(match rows::load_event(tx, own.id)? {
                Some(event) => Turn::Take(own.clone(), Box::new(event)),
                None => Turn::Gone(own.clone()),
            })
        };
        self.db.write(job.tenant, unit).await
    }

    async fn take_event(
        &self,
        tenant: TenantId,
        arrival: &WaitingArrival,
        event: ChannelEvent,
        is_last_try: bool,
    ) -> Result<(), TakeFault> {
        let found = self.accounts.find_link(tenant, &arrival.account).await?;
        let Some(link) = found else {
            let why = format!("channel {} is gone", arrival.account);
            return Err(TakeFault::Ended(ArrivalEnding::Failed(why)));
        };
        let taking = Taking { tenant, arrival, link: &link, is_last_try };
        match event.what {
            ChannelHappening::Message(message) => self.take_message(&taking, *message).await,
            other => self.take_happening(&taking, &event.id, other).await,
        }
    }

    async fn end(&self, job: &Job, arrival: WaitingArrival, ending: ArrivalEnding) -> Result<(), JobFailure> {
        match &ending {
            ArrivalEnding::Taken => {}
            ArrivalEnding::PassedOver(why) => {
                tracing::debug!(tenant = %job.tenant, channel = %arrival.account, why, "passed over");
            }
            ArrivalEnding::Failed(why) => {
                tracing::warn!(tenant = %job.tenant, channel = %arrival.account, why, "can't be taken in");
            }
        }
        let (lease, queue, now) = (job.lease, self.queue.clone(), self.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            rows::end(tx, &queue, &arrival, &ending, now)?;
            lease.complete(tx, now)?;
            Ok::<_, Error>(())
        };
        Ok(self.db.write(job.tenant, unit).await?)
    }
}

impl From<Error> for TakeFault {
    fn from(error: Error) -> Self {
        Self::Passing(error.to_string())
    }
}

impl From<munshi_store::Error> for TakeFault {
    fn from(error: munshi_store::Error) -> Self {
        Self::Passing(error.to_string())
    }
}

impl From<ReceiveFault> for TakeFault {
    fn from(fault: ReceiveFault) -> Self {
        match fault {
            ReceiveFault::Refused(why) => Self::Ended(ArrivalEnding::Failed(why)),
            ReceiveFault::Passing(why) => Self::Passing(why),
        }
    }
}

impl fmt::Debug for ArrivalTaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrivalTaker").finish_non_exhaustive()
    }
}
