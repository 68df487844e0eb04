//! What the job that sends a message is asked, and who makes it.

use munshi_jobs::{JobQueue, NewJob, Priority};
use munshi_store::Tx;
use munshi_types::{MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::queue::{LaneEntry, find_head, lock_lane};
use super::rows::OutboxState;

pub const KIND: &str = "outbox.deliver";

/// So often a message is tried before it is given up, about an hour after it was said.
pub const TRIES: u32 = 12;
/// Beyond that the job has some to spare: a process that dies at the last try must not leave a message behind that
/// stands in the way of all that follow.
const SPARE: u32 = 8;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct DeliveryPayload {
    pub message: MessageId,
    /// Its lane, which goes on though the message is deleted before the job comes. None in jobs of older versions.
    #[serde(default)]
    pub lane: Option<Uuid>,
    /// The time that it is for; none for one that looks whether it is the message's turn.
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// Makes the job that sends a message, now or at a time. More jobs than one for a message do no harm.
pub(super) fn enqueue_job(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    (message, lane): (MessageId, Uuid),
    at: Option<Timestamp>,
) -> crate::Result<()> {
    let payload = DeliveryPayload { message, lane: Some(lane), at };
    let job = NewJob::new(KIND, &payload)?.priority(Priority::Urgent);
    let job = job.attempts(TRIES + SPARE);
    queue.enqueue(tx, &at.map_or(job.clone(), |at| job.run_at(at)))?;
    Ok(())
}

/// Makes the job of the first that may leave in a lane, for whoever is done with one of its messages. What is just being sent or put off has a
/// job, and so has the one that is tried again, where it is named.
pub(super) fn enqueue_head(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    (lane, tried): (Uuid, Option<MessageId>),
    now: Timestamp,
) -> crate::Result<()> {
    let unsent = lock_lane(tx, lane)?;
    let has_job = |head: &LaneEntry| {
        head.state == OutboxState::Sending || head.is_held(now) || tried == Some(head.message)
    };
    match find_head(&unsent, now) {
        Some(head) if !has_job(head) => enqueue_job(tx, queue, (head.message, lane), None),
        _ => Ok(()),
    }
}
