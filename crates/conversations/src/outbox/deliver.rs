//! The job that sends a message.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use metrics::counter;
use munshi_jobs::{Backoff, Job, JobFailure, JobKind, JobQueue, JobRegistry};
use munshi_store::{Db, Tx};
use munshi_types::tier::Channel;
use munshi_types::{Clock, MessageId, OutboundMessage, PersonId};

use super::delivery_job::{DeliveryPayload, KIND, TRIES, enqueue_job};
use super::rows::{self, OutboxState, OutboxUpdate};
use super::{ChannelSender, DeliveryCertainty, SendFault, SendIdempotency, SendReceipt, SendRetryability};
use crate::error::{Error, Result};

/// Somebody waits for it, so the first pauses are short.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(2), longest: Duration::from_secs(1800) };
/// Sends what stands in the outbox through the senders there are.
#[derive(Clone)]
pub struct OutboxDeliverer {
    db: Db,
    queue: JobQueue,
    clock: Arc<dyn Clock>,
    senders: Arc<HashMap<Channel, Arc<dyn ChannelSender>>>,
}

/// The message that is sent, and to whom.
#[derive(Clone, Copy)]
struct Recipient {
    message: MessageId,
    person: Option<PersonId>,
}

/// What a job finds when it comes.
enum Found {
    /// Sent, given up, or behind another whose job will make a new one for it.
    Nothing,
    Send(OutboundMessage, Recipient),
    /// Somebody died while sending what can't be sent twice.
    Unknown(Recipient),
}

impl OutboxDeliverer {
    /// One sender a channel: of two, the last counts.
    pub fn new(
        db: Db,
        queue: JobQueue,
        clock: Arc<dyn Clock>,
        senders: impl IntoIterator<Item = Arc<dyn ChannelSender>>,
    ) -> Self {
        let senders = senders.into_iter().map(|sender| (sender.channel(), sender)).collect();
        Self { db, queue, clock, senders: Arc::new(senders) }
    }

    pub fn install(&self, registry: &mut JobRegistry) {
        let deliverer = self.clone();
        registry.add(JobKind::new(KIND).backoff(BACKOFF), move |job| {
            let deliverer = deliverer.clone();
            async move { deliverer.deliver(&job).await }
        });
    }

    async fn deliver(&self, job: &Job) -> Result<(), JobFailure> {
        let message = job.read::<DeliveryPayload>()?.message;
        let found = self.claim_message(job, message).await?;
        match found {
            Found::Nothing => Ok(()),
            Found::Unknown(recipient) => {
                let why = "the process died while sending; delivery is unknown";
                let sent = SendReceipt::default();
                self.settle(job, recipient, OutboxState::Unknown, Some(why.to_owned()), sent).await
            }
            Found::Send(outbound, recipient) => {
                let outcome = self.send(&outbound).await;
                self.record(job, &outbound, recipient, outcome).await
            }
        }
    }

    /// Looks whether it is this message's turn, and writes down that it is being sent.
    async fn claim_message(&self, job: &Job, message: MessageId) -> Result<Found> {
        let (id, senders) = (job.id, self.senders.clone());
        self.db
            .write(job.tenant, move |tx| {
                let Some(head) = rows::lock_session_queue(tx, message)?.into_iter().next() else {
                    return Ok(Found::Nothing);
                };
                let is_anothers = head.state == OutboxState::Sending && head.job != Some(id);
                if head.message != message || is_anothers {
                    return Ok(Found::Nothing);
                }
                let recipient = Recipient { message, person: head.person };
                let once = senders
                    .get(&head.outbound.to.channel)
                    .is_some_and(|sender| sender.idempotency() == SendIdempotency::Once);
                if head.state == OutboxState::Sending && once {
                    return Ok(Found::Unknown(recipient));
                }
                rows::mark_sending(tx, message, id)?;
                Ok(Found::Send(head.outbound, recipient))
            })
            .await
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        match self.senders.get(&outbound.to.channel) {
            Some(sender) => sender.send(outbound).await,
            None => Err(SendFault {
                why: format!("no sender for channel {}: configure the channel", outbound.to.channel),
                retryable: SendRetryability::Yes,
                happened: DeliveryCertainty::No,
            }),
        }
    }

    async fn record(
        &self,
        job: &Job,
        outbound: &OutboundMessage,
        recipient: Recipient,
        outcome: Result<SendReceipt, SendFault>,
    ) -> Result<(), JobFailure> {
        let fault = match outcome {
            Ok(sent) => return self.settle(job, recipient, OutboxState::Sent, None, sent).await,
            Err(fault) => fault,
        };
        let once =
            self.senders.get(&outbound.to.channel).is_some_and(|s| s.idempotency() == SendIdempotency::Once);
        let state = match (fault.happened, fault.retryable) {
            (DeliveryCertainty::Maybe, _) if once => OutboxState::Unknown,
            (_, SendRetryability::Yes) if job.attempt < TRIES => OutboxState::Waiting,
            _ => OutboxState::Failed,
        };
        self.settle(job, recipient, state, Some(fault.why.clone()), SendReceipt::default()).await?;
        match state {
            OutboxState::Waiting => Err(JobFailure::Passing(fault.why)),
            _ => Ok(()),
        }
    }

    /// Writes down where the message stands, ends the job unless it is to be tried again, and lets the next one go.
    async fn settle(
        &self,
        job: &Job,
        Recipient { message, person }: Recipient,
        state: OutboxState,
        why: Option<String>,
        sent: SendReceipt,
    ) -> Result<(), JobFailure> {
        let (id, lease, now, queue) = (job.id, job.lease, self.clock.now(), self.queue.clone());
        let detail = why.clone();
        let unit = move |tx: &mut Tx<'_>| {
            let detail = detail.map(|why| why.replace('\0', "\u{fffd}"));
            let outside_id = sent.outside_id.map(|id| id.replace('\0', "\u{fffd}"));
            let after = OutboxUpdate {
                person,
                state,
                detail: detail.as_deref(),
                outside_id: outside_id.as_deref(),
                now,
            };
            if !rows::set(tx, message, id, &after)? || state == OutboxState::Waiting {
                return Ok::<(), Error>(());
            }
            // The row is no longer among the unsent, so the first of them is the next.
            if let Some(next) = rows::lock_session_queue(tx, message)?.into_iter().next() {
                enqueue_job(tx, &queue, next.message)?;
            }
            lease.complete(tx, now)?;
            Ok(())
        };
        self.db.write(job.tenant, unit).await?;
        log_outcome(message, state, why.as_deref());
        Ok(())
    }
}

fn log_outcome(message: MessageId, state: OutboxState, why: Option<&str>) {
    counter!("munshi_outbox_total", "outcome" => state.as_str()).increment(1);
    let why = why.unwrap_or_default();
    match state {
        OutboxState::Unknown => {
            tracing::error!(%message, why, "message delivery unknown; not resending");
        }
        OutboxState::Failed => tracing::error!(%message, why, "message delivery failed; giving up"),
        OutboxState::Waiting => tracing::warn!(%message, why, "message delivery failed; retrying"),
        OutboxState::Sent | OutboxState::Sending => tracing::debug!(%message, "message sent"),
    }
}
