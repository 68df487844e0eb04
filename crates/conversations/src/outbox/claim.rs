//! Whether it is a message's turn, and what is to be done with it.

use std::sync::Arc;
use std::time::Duration;

use munshi_jobs::JobQueue;
use munshi_store::Tx;
use munshi_types::{JobId, MessageId, OutboundMessage, Timestamp};

use super::delivery_job::{enqueue_head, enqueue_job};
use super::facts::load_facts;
use super::queue::{self, LaneEntry, find_head};
use super::rows::{OutboxHold, OutboxState};
use super::rules::{self, OutboundRefusal, OutboundVerdict};
use super::{ChannelSender, SendFault, SendIdempotency};
use crate::error::Result;

/// What a job finds when it comes.
#[derive(Debug)]
pub(super) enum Claim {
    /// It waits: behind another whose end makes a new job for it, or for a time at which it has a job.
    Nothing,
    /// A rule refuses it, for the reason said; it is given up.
    Refused(OutboundRefusal),
    Send(ClaimedMessage),
    /// Somebody died while sending, and the channel can be asked.
    Ask(ClaimedMessage),
    /// Somebody died while sending what can't be sent twice.
    Unknown,
    /// Somebody died while sending, and the account is away.
    Unreachable,
}

/// The message that is sent.
#[derive(Clone, Debug)]
pub(super) struct ClaimedMessage {
    pub message: MessageId,
    /// With the one that begins now.
    pub attempts: u32,
    /// Of its parts, how many have left.
    pub parts_sent: u32,
    pub made_at: Timestamp,
}

impl ClaimedMessage {
    fn of(entry: &LaneEntry) -> Self {
        Self {
            message: entry.message,
            attempts: entry.attempts + 1,
            parts_sent: entry.parts_sent,
            made_at: entry.made_at,
        }
    }
}

/// What is known of a sender, where one was found.
pub(super) struct SenderFacts(Option<FoundFacts>);

struct FoundFacts {
    idempotency: SendIdempotency,
    account: Option<String>,
    window: Option<Duration>,
}

impl SenderFacts {
    pub(super) fn of(found: &std::result::Result<Arc<dyn ChannelSender>, SendFault>) -> Self {
        Self(found.as_ref().ok().map(|sender| FoundFacts {
            idempotency: sender.idempotency(),
            account: sender.account().map(str::to_owned),
            window: sender.reply_window(),
        }))
    }

    fn account(&self) -> Option<&str> {
        self.0.as_ref().and_then(|found| found.account.as_deref())
    }
}

/// The job that comes, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaimingJob {
    pub id: JobId,
    /// The time that it is for, where it is for one.
    pub at: Option<Timestamp>,
    pub now: Timestamp,
}

/// Decides with the lane held, and writes down what was decided.
pub(super) fn claim(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    job: ClaimingJob,
    outbound: &OutboundMessage,
    sender: &SenderFacts,
) -> Result<Claim> {
    let Some(at) = queue::find_lane(tx, outbound.id)? else { return Ok(Claim::Nothing) };
    let lane = queue::lock_lane(tx, at)?;
    let Some(own) = lane.iter().find(|entry| entry.message == outbound.id) else {
        // Where two threads became one this moment, it is in the other lane.
        let now_in = queue::find_lane(tx, outbound.id)?.filter(|lane| *lane != at);
        if let Some(lane) = now_in {
            enqueue_job(tx, queue, (outbound.id, lane), None)?;
        }
        return Ok(Claim::Nothing);
    };
    // Whatever stands before it by now: nothing of the lane leaves until this is settled.
    if own.state == OutboxState::Sending {
        return resume(tx, job, own, sender);
    }
    if own.is_held(job.now) {
        // Its own job came early: the clock of whoever made it is ahead of this one.
        if own.not_before == job.at {
            enqueue_job(tx, queue, (own.message, at), job.at)?;
        }
        return Ok(Claim::Nothing);
    }
    // Whoever sends makes the job of the next, however it ends.
    if lane.iter().any(|entry| entry.state == OutboxState::Sending) {
        return Ok(Claim::Nothing);
    }
    if let Some(head) = find_head(&lane, job.now).filter(|head| head.message != own.message) {
        // What waits for the morning is looked at again: whoever has just written is awake.
        if head.waits_for == Some(OutboxHold::Hours) {
            enqueue_job(tx, queue, (head.message, at), None)?;
        }
        return Ok(Claim::Nothing);
    }
    // It is tried again when the job comes back that tried it: a look takes none of its tries.
    if let Some(other) = own.job.filter(|other| *other != job.id)
        && munshi_jobs::is_open(tx, other)?
    {
        return Ok(Claim::Nothing);
    }
    decide(tx, queue, job, (own, outbound), sender)
}

/// It is the message's turn: whether it may leave now.
fn decide(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    job: ClaimingJob,
    (own, outbound): (&LaneEntry, &OutboundMessage),
    sender: &SenderFacts,
) -> Result<Claim> {
    let now = job.now;
    let window = sender.0.as_ref().and_then(|found| found.window);
    let facts = load_facts(tx, own, outbound, (window, now))?;
    match rules::decide(&facts) {
        OutboundVerdict::Now => {
            queue::note_consent(tx, own, now)?;
            queue::mark_sending(tx, own.message, (job.id, now), sender.account())?;
            Ok(Claim::Send(ClaimedMessage::of(own)))
        }
        OutboundVerdict::NotBefore(until) => {
            let has_job = own.waits_for == Some(OutboxHold::Hours) && own.not_before == Some(until);
            queue::hold(tx, own, (OutboxHold::Hours, until), "quiet hours of the recipient")?;
            // One that waits for the morning already has its job, unless this is it.
            if !has_job || job.at == Some(until) {
                enqueue_job(tx, queue, (own.message, own.lane), Some(until))?;
            }
            Ok(Claim::Nothing)
        }
        OutboundVerdict::Refused(refusal) => {
            queue::refuse(tx, own, &refusal.to_string())?;
            enqueue_head(tx, queue, (own.lane, None), now)?;
            Ok(Claim::Refused(refusal))
        }
    }
}

/// A job that finds its own name has died here before.
fn resume(tx: &mut Tx<'_>, job: ClaimingJob, own: &LaneEntry, sender: &SenderFacts) -> Result<Claim> {
    if own.job != Some(job.id) {
        return Ok(Claim::Nothing);
    }
    let claimed = ClaimedMessage::of(own);
    let Some(found) = &sender.0 else { return Ok(Claim::Unreachable) };
    // Under the key of another account it would be another message.
    if found.account != own.account {
        return Ok(Claim::Unknown);
    }
    match found.idempotency {
        SendIdempotency::Once => return Ok(Claim::Unknown),
        SendIdempotency::Asked | SendIdempotency::Keyed => {}
    }
    queue::mark_sending(tx, own.message, (job.id, job.now), sender.account())?;
    match found.idempotency {
        SendIdempotency::Asked => Ok(Claim::Ask(claimed)),
        SendIdempotency::Keyed | SendIdempotency::Once => Ok(Claim::Send(claimed)),
    }
}
