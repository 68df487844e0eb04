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
use super::rows::{self, ArrivalEnding, ArrivalPayload, ArrivalTries, KIND, TRIES, WaitingArrival};
use crate::error::Error;
use crate::link::ChannelLink;
use crate::senders::ChannelSenders;

/// Somebody waits for an answer, so the first pauses are short; a provider may be away for hours.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(900) };

/// What waits for somebody to do something is looked at so often.
const LOOK: Duration = Duration::from_secs(300);
/// So long what came for a tenant waits that is paused.
const PAUSED_LIFE: Duration = Duration::from_secs(30 * 86_400);
/// So long what came waits for its account to be declared again: whoever changes it may take it away first.
pub(super) const ACCOUNTLESS_LIFE: Duration = Duration::from_secs(86_400);

/// Between tries to have a file: one more than there are pauses, some minutes in all. The chat waits meanwhile.
const FILE_PAUSES: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(20), Duration::from_secs(120), Duration::from_secs(300)];
/// No provider holds a chat up for longer than this at once, whatever it says.
const LONGEST_FILE_PAUSE: Duration = Duration::from_secs(300);

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
    /// A file that can't be had now is not tried again: the message goes on without it.
    pub is_last_file_try: bool,
}

/// Why something is not taken in this time.
pub(super) enum TakeFault {
    /// It is tried again.
    Passing(String),
    /// A file of it can't be had now. Not before so long, where the provider says so.
    File {
        why: String,
        after: Option<Duration>,
    },
    /// It waits for somebody, and is given up once it came so long ago. That is no try.
    Waits {
        why: String,
        at_most: Duration,
    },
    Ended(ArrivalEnding),
}

enum Turn {
    /// Taken in before, or behind another whose end makes a new job for it.
    Nothing,
    Take(WaitingArrival, Box<ChannelEvent>),
    /// It can't be taken in, and why.
    Gone(WaitingArrival, &'static str),
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
            Turn::Gone(arrival, why) => {
                return self.end(job, arrival, ArrivalEnding::Failed(why.to_owned())).await;
            }
            Turn::Take(arrival, event) => (arrival, event),
        };
        let payload: ArrivalPayload = job.read()?;
        let tried = ArrivalTries { spent: payload.tries.spent + job.attempt, ..payload.tries };
        let before = ArrivalTries { spent: tried.spent.saturating_sub(1), ..tried };
        let is_last_try = tried.spent >= TRIES;
        match self.take_event(job.tenant, &arrival, *event, tried).await {
            Ok(()) => self.end(job, arrival, ArrivalEnding::Taken).await,
            Err(TakeFault::Ended(ending)) => self.end(job, arrival, ending).await,
            Err(TakeFault::Waits { why, at_most }) => match self.waited(&arrival) < at_most {
                true => self.put_off(job, &arrival, before, (LOOK, why)).await,
                false => self.end(job, arrival, ArrivalEnding::Failed(why)).await,
            },
            Err(TakeFault::File { why, after }) => {
                let usual = FILE_PAUSES.get(tried.files as usize).copied().unwrap_or_default();
                let pause = after.map_or(usual, |after| after.clamp(usual, LONGEST_FILE_PAUSE));
                let next = ArrivalTries { files: tried.files + 1, ..before };
                self.put_off(job, &arrival, next, (pause, why)).await
            }
            Err(TakeFault::Passing(why)) if is_last_try => {
                self.end(job, arrival, ArrivalEnding::Failed(why)).await
            }
            Err(TakeFault::Passing(why)) => Err(JobFailure::Passing(why)),
        }
    }

    /// Since it came.
    fn waited(&self, arrival: &WaitingArrival) -> Duration {
        self.clock.now().since(arrival.received_at)
    }

    /// Another job takes it in, with what was tried until now.
    async fn put_off(
        &self,
        job: &Job,
        arrival: &WaitingArrival,
        tries: ArrivalTries,
        (pause, why): (Duration, String),
    ) -> Result<(), JobFailure> {
        tracing::debug!(tenant = %job.tenant, channel = %arrival.account, why, ?pause, "taken in later");
        let (lease, queue, now) = (job.lease, self.queue.clone(), self.clock.now());
        let id = arrival.id;
        let unit = move |tx: &mut Tx<'_>| {
            lease.verify(tx)?;
            rows::put_off(tx, &queue, (id, tries), now.plus(pause))?;
            lease.complete(tx, now)?;
            Ok::<_, Error>(())
        };
        Ok(self.db.write(job.tenant, unit).await?)
    }

    /// Looks whether it is its turn, and writes down that it is taken in now.
    async fn find_turn(&self, job: &Job) -> Result<Turn, Error> {
        let payload: ArrivalPayload = job.read().map_err(|error| Error::Invalid(error.to_string()))?;
        let (lease, id, now) = (job.lease, job.id, self.clock.now());
        // Each of these ended with nothing said of it, such as with the process: it may be the cause, and all behind it wait.
        let is_hopeless = payload.tries.spent + job.attempt > TRIES;
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
            if is_hopeless {
                return Ok(Turn::Gone(own.clone(), "every try to take it in broke off"));
            }
            Ok(match rows::load_event(tx, own.id) {
                Ok(Some(event)) => Turn::Take(own.clone(), Box::new(event)),
                Ok(None) => Turn::Gone(own.clone(), "what it said is gone"),
                Err(error) if error.is_unreadable() => Turn::Gone(own.clone(), "what it said can't be read"),
                Err(error) => return Err(error.into()),
            })
        };
        self.db.write(job.tenant, unit).await
    }

    async fn take_event(
        &self,
        tenant: TenantId,
        arrival: &WaitingArrival,
        event: ChannelEvent,
        tried: ArrivalTries,
    ) -> Result<(), TakeFault> {
        let found = self.accounts.find_link(tenant, &arrival.account).await?;
        let Some(link) = found else {
            let why = format!("channel {} is gone, or does not work", arrival.account);
            return Err(TakeFault::Waits { why, at_most: ACCOUNTLESS_LIFE });
        };
        let taking = Taking {
            tenant,
            arrival,
            link: &link,
            is_last_try: tried.spent >= TRIES,
            is_last_file_try: tried.spent >= TRIES || tried.files as usize >= FILE_PAUSES.len(),
        };
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
            ReceiveFault::Paused(why) => Self::Waits { why, at_most: PAUSED_LIFE },
        }
    }
}

impl fmt::Debug for ArrivalTaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrivalTaker").finish_non_exhaustive()
    }
}
