//! Somebody waits for the colleague who has their conversation in hand, and nobody answers: the conversation is looked at when its
//! team's time is over. Whoever knows teams does that; here is its job, and what it changes.

use std::time::Duration;

use munshi_jobs::{JobQueue, NewJob};
use munshi_store::{Tx, params};
use munshi_types::{SessionId, Timestamp};

use crate::error::Result;
use crate::session_waits::HeldConversation;

pub const KIND: &str = "holds.unanswered";

/// No team's time is shorter.
const FIRST_LOOK: Duration = Duration::from_secs(60);

/// Has it looked at a conversation that somebody has in hand, once for each taking over until then.
pub(crate) fn enqueue_look(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    held: HeldConversation,
    now: Timestamp,
) -> Result<()> {
    enqueue_look_at(tx, queue, held, now.plus(FIRST_LOOK))
}

/// The same again, when somebody's time will be over.
pub fn enqueue_look_at(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    held: HeldConversation,
    at: Timestamp,
) -> Result<()> {
    let job = NewJob::new(KIND, &held)?.run_at(at);
    queue.enqueue(tx, &job.unique(held.hold.to_string()))?;
    Ok(())
}

/// Whoever had asked for a human and was talked to has not been answered.
pub fn expire_request(tx: &mut Tx<'_>, session: SessionId, now: Timestamp) -> munshi_store::Result<()> {
    tx.execute(
        "UPDATE human_requests SET state = 'expired', ended_at = $3
         WHERE tenant_id = $1 AND session_id = $2 AND state = 'held'",
        params![session, now],
    )?;
    Ok(())
}
