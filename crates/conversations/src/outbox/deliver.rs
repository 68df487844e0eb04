//! The job that sends a message.

use std::sync::Arc;
use std::time::Duration;

use munshi_jobs::{Backoff, Job, JobFailure, JobKind, JobQueue, JobRegistry};
use munshi_pack::outgoing::{self, PackMessage};
use munshi_store::{Db, Tx};
use munshi_types::{Clock, IdGenerator, MessageId, OutboundMessage, Timestamp};

use super::claim::{Claim, ClaimedMessage, ClaimingJob, SenderFacts, claim};
use super::delivery_job::{DeliveryPayload, KIND, TRIES, enqueue_head};
use super::entry::{NewNotice, enqueue_notice};
use super::queue;
use super::rows::{self, OutboxState};
use super::rules::OutboundRefusal;
use super::settle::{DeliveryEnding, log_outcome, redact_reason};
use super::{
    ChannelSender, DeliveryCertainty, SendFault, SendIdempotency, SendReceipt, SendRetryability,
    SenderDirectory, SenderRoute, delivery_alerts,
};
use crate::error::{Error, Result};

/// Somebody waits for it, so the first pauses are short.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(2), longest: Duration::from_secs(1800) };

/// A channel may put a message off by its limits until it is so old, for no longer than this at a time. Then what it says is a failure that
/// may pass, as any other.
const LIMITS_UNTIL: Duration = Duration::from_secs(3 * 24 * 3600);
const LONGEST_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Sends what stands in the outbox through the senders there are.
#[derive(Clone)]
pub struct OutboxDeliverer {
    pub db: Db,
    pub queue: JobQueue,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub senders: Arc<dyn SenderDirectory>,
}

/// So many are sent at once on a node, beside its workers: slow servers hold up no other work. Waiting for one holds no thread.
const AT_ONCE: usize = 96;
/// So many of them are one tenant's: the slow servers of fewer than eight hold up no other's mail.
const AT_ONCE_OF_TENANT: usize = 12;

type FoundSender = Result<Arc<dyn ChannelSender>, SendFault>;

impl OutboxDeliverer {
    pub fn install(&self, registry: &mut JobRegistry) {
        let deliverer = self.clone();
        let kind = JobKind::new(KIND).beside_workers(AT_ONCE).tenant_share(AT_ONCE_OF_TENANT);
        registry.add(kind.backoff(BACKOFF), move |job| {
            let deliverer = deliverer.clone();
            async move { deliverer.deliver(&job).await }
        });
        let deliverer = self.clone();
        registry.add(JobKind::new(outgoing::KIND).backoff(BACKOFF), move |job| {
            let deliverer = deliverer.clone();
            async move { deliverer.take_over(&job).await }
        });
    }

    /// Writes down what a pack sends.
    async fn take_over(&self, job: &Job) -> Result<(), JobFailure> {
        let PackMessage { outbound, person, subject, binding, about } = job.read()?;
        let notice = NewNotice { outbound, person, subject, binding, about, not_before: None };
        let (lease, queue, now) = (job.lease, self.queue.clone(), self.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            enqueue_notice(tx, &queue, &notice, now)?;
            lease.complete(tx, now)?;
            Ok::<(), Error>(())
        };
        Ok(self.db.write(job.tenant, unit).await?)
    }

    async fn deliver(&self, job: &Job) -> Result<(), JobFailure> {
        let payload = job.read::<DeliveryPayload>()?;
        let message = payload.message;
        let Some((outbound, route)) = self.load(job, message).await? else {
            return Ok(self.pass_on(job, payload).await?);
        };
        let sender = self.senders.find(&route).await;
        match self.claim_message(job, (&outbound, payload.at), &sender).await? {
            Claim::Nothing => Ok(()),
            Claim::Refused(refusal) => {
                log_outcome(message, OutboxState::Failed, Some(&refusal.to_string()));
                Ok(())
            }
            Claim::Unknown => {
                let why = "the process died while sending; delivery is unknown";
                self.settle(job, &outbound, DeliveryEnding::because(OutboxState::Unknown, why)).await
            }
            Claim::Unreachable => self.wait_for_sender(job, &outbound, sender).await,
            Claim::Ask(claimed) => self.ask(job, &outbound, &claimed, sender).await,
            Claim::Send(claimed) => self.send(job, &outbound, &claimed, sender).await,
        }
    }

    /// Nothing is left to be sent: the message was settled, taken back or deleted since, and the next of its lane goes.
    async fn pass_on(&self, job: &Job, payload: DeliveryPayload) -> Result<()> {
        let (lease, now, queue) = (job.lease, self.clock.now(), self.queue.clone());
        let unit = move |tx: &mut Tx<'_>| {
            if let Some(lane) = queue::find_lane(tx, payload.message)?.or(payload.lane) {
                enqueue_head(tx, &queue, (lane, None), now)?;
            }
            lease.complete(tx, now)?;
            Ok::<_, Error>(())
        };
        self.db.write(job.tenant, unit).await
    }

    /// The message with what it answers, and the way it goes. None where nothing is left to be sent.
    async fn load(&self, job: &Job, message: MessageId) -> Result<Option<(OutboundMessage, SenderRoute)>> {
        let tenant = job.tenant;
        let read = move |tx: &mut Tx<'_>| {
            let unsent = rows::find(tx, message)?
                .filter(|row| matches!(row.state, OutboxState::Waiting | OutboxState::Sending));
            let Some(row) = unsent else { return Ok(None) };
            let Some(mut outbound) = rows::find_body(tx, message)? else { return Ok(None) };
            if outbound.answers.is_none() && row.session.is_some() {
                outbound.answers = queue::find_answered(tx, message)?;
            }
            let (channel, account) = (outbound.to.channel, outbound.to.account.clone());
            let from = outbound.from.as_ref().map(|from| from.address.clone());
            let route = SenderRoute { tenant, binding: row.binding, channel, from, account };
            Ok(Some((outbound, route)))
        };
        self.db.read(tenant, read).await
    }

    /// Looks whether it is this message's turn, and writes down that it is being sent.
    async fn claim_message(
        &self,
        job: &Job,
        (outbound, at): (&OutboundMessage, Option<Timestamp>),
        sender: &FoundSender,
    ) -> Result<Claim> {
        let (lease, now, queue) = (job.lease, self.clock.now(), self.queue.clone());
        let ids = self.ids.clone();
        let claiming = ClaimingJob { id: job.id, at, now };
        let (outbound, sender) = (outbound.clone(), SenderFacts::of(sender));
        self.db
            .write(job.tenant, move |tx| {
                // A job that another has taken over sends nothing more.
                lease.verify(tx)?;
                let claimed = claim(tx, &queue, claiming, &outbound, &sender)?;
                if matches!(claimed, Claim::Nothing | Claim::Refused(_)) {
                    lease.complete(tx, now)?;
                }
                // Whoever ended it is sent nothing, as they asked: nobody has to look after that.
                if matches!(&claimed, Claim::Refused(refusal) if *refusal != OutboundRefusal::OptedOut) {
                    let person = rows::find(tx, outbound.id)?.and_then(|row| row.person);
                    delivery_alerts::raise(tx, &outbound, (person, OutboxState::Failed), (&ids, now))?;
                }
                Ok(claimed)
            })
            .await
    }

    /// A process died while sending, and the account that was used is away: nobody can say yet whether sending again is harmless.
    async fn wait_for_sender(
        &self,
        job: &Job,
        outbound: &OutboundMessage,
        sender: FoundSender,
    ) -> Result<(), JobFailure> {
        let why = sender.err().map_or_else(String::new, |fault| fault.why);
        let why = redact_reason(Some(&outbound.to), &why);
        if job.attempt < TRIES {
            return Err(JobFailure::Passing(why));
        }
        let why = format!("the process died while sending, and its account is away: {why}");
        self.settle(job, outbound, DeliveryEnding::because(OutboxState::Unknown, why)).await
    }

    /// Nobody knows whether a message left: the channel does.
    async fn ask(
        &self,
        job: &Job,
        outbound: &OutboundMessage,
        claimed: &ClaimedMessage,
        sender: FoundSender,
    ) -> Result<(), JobFailure> {
        let asked = match &sender {
            Ok(sender) => sender.was_part_sent(outbound, claimed.parts_sent).await,
            Err(fault) => Err(fault.clone()),
        };
        let parts = sender.as_ref().map_or(1, |sender| sender.count_parts(outbound));
        match asked {
            Ok(Some(sent)) => {
                let parts_sent = claimed.parts_sent + 1;
                if parts_sent >= parts {
                    return self.settle(job, outbound, DeliveryEnding::sent(sent)).await;
                }
                self.note_part(job, outbound.id, parts_sent).await?;
                let rest = ClaimedMessage { parts_sent, ..claimed.clone() };
                self.send(job, outbound, &rest, sender).await
            }
            Ok(None) => self.send(job, outbound, claimed, sender).await,
            Err(fault) if job.attempt < TRIES => {
                Err(JobFailure::Passing(redact_reason(Some(&outbound.to), &fault.why)))
            }
            Err(fault) => {
                let why = redact_reason(Some(&outbound.to), &fault.why);
                let why = format!("delivery is unknown, and the channel does not say: {why}");
                self.settle(job, outbound, DeliveryEnding::because(OutboxState::Unknown, why)).await
            }
        }
    }

    async fn send(
        &self,
        job: &Job,
        outbound: &OutboundMessage,
        claimed: &ClaimedMessage,
        sender: FoundSender,
    ) -> Result<(), JobFailure> {
        let (outcome, idempotency) = match sender {
            Ok(sender) => {
                (self.send_parts(job, outbound, claimed, sender.as_ref()).await?, sender.idempotency())
            }
            Err(fault) => (Err(fault), SendIdempotency::Keyed),
        };
        let fault = match outcome {
            Ok(sent) => return self.settle(job, outbound, DeliveryEnding::sent(sent)).await,
            Err(fault) => fault,
        };
        let is_last = claimed.attempts >= TRIES;
        let is_young = self.clock.now().since(claimed.made_at) < LIMITS_UNTIL;
        let why = redact_reason(Some(&outbound.to), &fault.why);
        let state = match (fault.happened, fault.retryable) {
            // The row says that it is being sent: whoever comes next asks, or sends again under the same key.
            (DeliveryCertainty::Maybe, SendRetryability::Yes)
                if idempotency != SendIdempotency::Once && !is_last =>
            {
                return Err(JobFailure::Passing(why));
            }
            (DeliveryCertainty::Maybe, _) => OutboxState::Unknown,
            (DeliveryCertainty::No, SendRetryability::No) => OutboxState::Failed,
            (DeliveryCertainty::No, SendRetryability::Yes) => match fault.retry_after {
                Some(after) if is_young => {
                    return self.put_off(job, claimed, after.min(LONGEST_LIMIT), &why).await;
                }
                _ if is_last => OutboxState::Failed,
                _ => OutboxState::Waiting,
            },
        };
        self.settle(job, outbound, DeliveryEnding::because(state, why.clone())).await?;
        match state {
            OutboxState::Waiting => Err(JobFailure::Passing(why)),
            _ => Ok(()),
        }
    }

    /// What is left of it, part by part; each is written down before the next leaves, so that none leaves twice.
    async fn send_parts(
        &self,
        job: &Job,
        outbound: &OutboundMessage,
        claimed: &ClaimedMessage,
        sender: &dyn ChannelSender,
    ) -> Result<Result<SendReceipt, SendFault>, JobFailure> {
        let parts = sender.count_parts(outbound).max(1);
        // Where it has fewer than it had, the last one was sent and nobody wrote it down.
        let mut part = claimed.parts_sent.min(parts - 1);
        loop {
            let sent = match sender.send_part(outbound, part).await {
                Ok(sent) => sent,
                Err(fault) => return Ok(Err(fault)),
            };
            part += 1;
            if part >= parts {
                return Ok(Ok(sent));
            }
            self.note_part(job, outbound.id, part).await?;
        }
    }
}
