//! What the job that sends a message is asked.

use munshi_jobs::{JobQueue, NewJob, Priority};
use munshi_store::Tx;
use munshi_types::MessageId;
use serde::{Deserialize, Serialize};

pub const KIND: &str = "outbox.deliver";

/// So often a message is tried before it is given up, about an hour after it was said.
pub const TRIES: u32 = 12;
/// Beyond that the job has some to spare: a process that dies at the last try must not leave a message behind that
/// stands in the way of all that follow.
const SPARE: u32 = 8;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct DeliveryPayload {
    pub message: MessageId,
}

/// Makes the job that sends a message.
pub(super) fn enqueue_job(tx: &mut Tx<'_>, queue: &JobQueue, message: MessageId) -> crate::Result<()> {
    let job = NewJob::new(KIND, &DeliveryPayload { message })?.priority(Priority::Urgent);
    queue.enqueue(tx, &job.attempts(TRIES + SPARE))?;
    Ok(())
}
