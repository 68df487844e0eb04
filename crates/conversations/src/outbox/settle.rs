//! Writing down how a try ended, and letting the next message of the lane go.

use std::time::Duration;

use metrics::counter;
use munshi_jobs::{Job, JobFailure};
use munshi_privacy::{HiddenFields, Redaction, RedactionProfile};
use munshi_store::Tx;
use munshi_types::{MessageId, OutboundMessage, ReplyAddress};

use super::claim::ClaimedMessage;
use super::deliver::OutboxDeliverer;
use super::delivery_job::{enqueue_head, enqueue_job};
use super::queue::{self, OutboxUpdate};
use super::rows::{self, OutboxHold, OutboxState};
use super::{SendReceipt, delivery_alerts};
use crate::error::{Error, Result};

/// How a try ended is in memory alone until it is written down: so it is tried for about ten minutes, where the database or the keys are
/// away. The job's lease is ours meanwhile, or another has taken it over and nothing is written.
const WRITES: u32 = 60;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What is shorter is replaced in words that have nothing to do with it.
const SHORTEST_ADDRESS: usize = 5;

/// How a try ended.
#[derive(Clone, Debug)]
pub(super) struct DeliveryEnding {
    pub state: OutboxState,
    /// [Without the recipient](redact_reason).
    pub why: Option<String>,
    pub receipt: SendReceipt,
}

impl DeliveryEnding {
    pub(super) fn sent(receipt: SendReceipt) -> Self {
        Self { state: OutboxState::Sent, why: None, receipt }
    }

    pub(super) fn because(state: OutboxState, why: impl Into<String>) -> Self {
        Self { state, why: Some(why.into()), receipt: SendReceipt::default() }
    }
}

impl OutboxDeliverer {
    /// Writes down where the message stands, ends the job unless it is to be tried again, and lets the next one go.
    pub(super) async fn settle(
        &self,
        job: &Job,
        outbound: &OutboundMessage,
        ending: DeliveryEnding,
    ) -> Result<(), JobFailure> {
        let state =
            write_through_outage(job, outbound.id, || self.write_ending(job, outbound, &ending)).await?;
        log_outcome(outbound.id, state, ending.why.as_deref());
        Ok(())
    }

    async fn write_ending(
        &self,
        job: &Job,
        outbound: &OutboundMessage,
        ending: &DeliveryEnding,
    ) -> Result<OutboxState> {
        let (id, lease, now) = (job.id, job.lease, self.clock.now());
        let (queue, ids) = (self.queue.clone(), self.ids.clone());
        let (outbound, ending) = (outbound.clone(), ending.clone());
        let unit = move |tx: &mut Tx<'_>| {
            let message = outbound.id;
            let at = queue::find_lane(tx, message)?;
            let lane = at.map(|at| queue::lock_lane(tx, at)).transpose()?.unwrap_or_default();
            // Whoever took the job over meanwhile decides about the message.
            lease.verify(tx)?;
            let mine = lane.iter().find(|entry| entry.message == message && entry.job == Some(id));
            let mine = mine.filter(|mine| mine.state == OutboxState::Sending);
            // The channel may have been quicker: then it has arrived, whatever its answer was.
            let is_delivered = mine.is_some_and(|mine| mine.delivered_at.is_some());
            let mut state = if is_delivered { OutboxState::Sent } else { ending.state };
            if let Some(mine) = mine {
                let detail = ending.why.filter(|_| state == ending.state);
                let outside_id = ending.receipt.outside_id.map(|id| without_nul(&id));
                let after =
                    OutboxUpdate { state, detail: detail.as_deref(), outside_id: outside_id.as_deref(), now };
                if queue::settle(tx, &outbound, mine, &after)? {
                    state = rows::find(tx, message)?.map_or(state, |row| row.state);
                }
            }
            if let Some(at) = at {
                enqueue_head(tx, &queue, (at, Some(message)), now)?;
            }
            if state != OutboxState::Waiting {
                lease.complete(tx, now)?;
            }
            if let Some(mine) = mine {
                delivery_alerts::raise(tx, &outbound, (mine.person, state), (&ids, now))?;
            }
            Ok::<_, Error>(state)
        };
        self.db.write(job.tenant, unit).await
    }

    /// Writes down that so many parts of a message have left. A job that has lost the message sends no more of it.
    pub(super) async fn note_part(
        &self,
        job: &Job,
        message: MessageId,
        parts: u32,
    ) -> Result<(), JobFailure> {
        let (id, lease) = (job.id, job.lease);
        let write = || {
            let unit = move |tx: &mut Tx<'_>| {
                lease.verify(tx)?;
                queue::mark_part_sent(tx, message, id, parts).map_err(Error::from)
            };
            self.db.write(job.tenant, unit)
        };
        match write_through_outage(job, message, write).await? {
            true => Ok(()),
            false => Err(JobFailure::Passing("the message is another's to send".to_owned())),
        }
    }

    /// A limit said when to come back. Another job does, and what was refused so was no attempt.
    pub(super) async fn put_off(
        &self,
        job: &Job,
        claimed: &ClaimedMessage,
        after: Duration,
        why: &str,
    ) -> Result<(), JobFailure> {
        let message = claimed.message;
        write_through_outage(job, message, || self.write_limit(job, message, (after, why))).await?;
        tracing::info!(%message, why, ?after, "message delivery put off by a limit");
        Ok(())
    }

    async fn write_limit(&self, job: &Job, message: MessageId, (after, why): (Duration, &str)) -> Result<()> {
        let (lease, id, now, queue) = (job.lease, job.id, self.clock.now(), self.queue.clone());
        let (until, detail) = (now.plus(after), why.to_owned());
        let unit = move |tx: &mut Tx<'_>| {
            if let Some(at) = queue::find_lane(tx, message)? {
                let lane = queue::lock_lane(tx, at)?;
                let mine = lane.into_iter().find(|entry| entry.message == message && entry.job == Some(id));
                if let Some(mut mine) = mine.filter(|mine| mine.state == OutboxState::Sending) {
                    mine.attempts = mine.attempts.saturating_sub(1);
                    queue::hold(tx, &mine, (OutboxHold::Limit, until), &detail)?;
                    enqueue_job(tx, &queue, (message, at), Some(until))?;
                }
                // Another may stand before it by now: it was sent again, or its time has come.
                enqueue_head(tx, &queue, (at, Some(message)), now)?;
            }
            lease.complete(tx, now)?;
            Ok::<_, Error>(())
        };
        self.db.write(job.tenant, unit).await
    }
}

async fn write_through_outage<T, F>(job: &Job, message: MessageId, mut write: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 1..WRITES {
        match write().await {
            Err(error) if error.is_transient() && !job.cancelled.is_cancelled() => {
                tracing::warn!(%message, %error, "failed to store how a delivery ended; trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            written => return written,
        }
    }
    write().await
}

/// Why something failed, as a provider says it, without whom it was sent to: it is listed and logged. Providers repeat the address, as written or
/// in digits.
pub(super) fn redact_reason(to: Option<&ReplyAddress>, why: &str) -> String {
    let mut why = without_nul(why);
    let address = to.map_or("", |to| to.address.trim());
    for known in [address, address.trim_start_matches('+')] {
        if known.len() >= SHORTEST_ADDRESS {
            why = why.replace(known, "[recipient]");
        }
    }
    let fields = HiddenFields::default();
    Redaction { profile: RedactionProfile::Standard, fields: &fields, known: None }.redact_text(&why)
}

/// Postgres has no room for it in a text.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(super) fn log_outcome(message: MessageId, state: OutboxState, why: Option<&str>) {
    counter!("munshi_outbox_total", "outcome" => state.as_str()).increment(1);
    let why = why.unwrap_or_default();
    match state {
        OutboxState::Unknown => {
            tracing::error!(%message, why, "message delivery unknown; not resending");
        }
        OutboxState::Failed => tracing::error!(%message, why, "message delivery failed; giving up"),
        OutboxState::Waiting => tracing::warn!(%message, why, "message delivery failed; retrying"),
        OutboxState::Sent | OutboxState::Sending | OutboxState::Cancelled => {
            tracing::debug!(%message, "message sent");
        }
    }
}
