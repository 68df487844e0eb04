//! What somebody who looks after the tenant does with a message: sends it again, or takes it back.

use munshi_jobs::JobQueue;
use munshi_store::{Tx, params};
use munshi_types::{IdGenerator, MessageId, OutboundMessage, Timestamp};
use uuid::Uuid;

use super::delivery_alerts;
use super::delivery_job::{enqueue_head, enqueue_job};
use super::queue;
use super::rows::{self, OutboxState, OutboxView};
use crate::error::Result;

/// Whether somebody has said that a message may arrive twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateConsent {
    Given,
    NotGiven,
}

/// What came of asking for it.
#[derive(Clone, Debug, PartialEq)]
pub enum OutboxChange {
    Done(Box<OutboxView>),
    /// There is no such message.
    Missing,
    /// Not in the state that it is in.
    NotNow(OutboxState),
    /// It may have arrived: somebody must say that it may arrive twice.
    MayDouble,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct OutboxWish<'a> {
    pub message: MessageId,
    pub queue: &'a JobQueue,
    pub ids: &'a IdGenerator,
    pub now: Timestamp,
}

/// Sends a message again that was given up, or of which nobody knows whether it arrived. One that waits is looked at once more. The rules
/// hold for it as for any other, and it keeps its key: a channel that keeps keys sends it once.
pub fn retry(tx: &mut Tx<'_>, wish: &OutboxWish<'_>, consent: DuplicateConsent) -> Result<OutboxChange> {
    let Some((before, lane)) = lock(tx, wish.message)? else { return Ok(OutboxChange::Missing) };
    match before.state {
        OutboxState::Unknown if consent == DuplicateConsent::NotGiven => return Ok(OutboxChange::MayDouble),
        OutboxState::Unknown | OutboxState::Failed | OutboxState::Waiting => {}
        state @ (OutboxState::Sending | OutboxState::Sent | OutboxState::Cancelled) => {
            return Ok(OutboxChange::NotNow(state));
        }
    }
    if rows::find_body(tx, wish.message)?.is_some_and(|said| is_emptied(&said)) {
        return Ok(OutboxChange::NotNow(before.state));
    }
    if before.state == OutboxState::Waiting {
        // Now, though the job that tried it would come back later.
        tx.execute(
            "UPDATE outbox SET job = NULL WHERE tenant_id = $1 AND message_id = $2",
            params![wish.message],
        )?;
    } else {
        tx.execute(
            "UPDATE outbox SET state = 'waiting', attempts = 0, job = NULL, not_before = NULL, waits_for = NULL
             WHERE tenant_id = $1 AND message_id = $2",
            params![wish.message],
        )?;
    }
    enqueue_job(tx, wish.queue, (wish.message, lane), None)?;
    finish(tx, wish, &before)
}

/// Whether its words are kept no longer, as those of what somebody was told that is over: there is nothing to send.
fn is_emptied(said: &OutboundMessage) -> bool {
    said.text.is_empty() && said.attachments.is_empty() && said.template.is_none()
}

/// Takes a message back that has not left. One that was given up or is unknown is taken off the list: it is not sent again.
pub fn cancel(tx: &mut Tx<'_>, wish: &OutboxWish<'_>) -> Result<OutboxChange> {
    let Some((before, lane)) = lock(tx, wish.message)? else { return Ok(OutboxChange::Missing) };
    match before.state {
        OutboxState::Waiting | OutboxState::Failed | OutboxState::Unknown => {}
        state @ (OutboxState::Sending | OutboxState::Sent | OutboxState::Cancelled) => {
            return Ok(OutboxChange::NotNow(state));
        }
    }
    take_back(tx, wish, lane)?;
    finish(tx, wish, &before)
}

/// Takes a message back that waits, and says whether it did. What has left, or may have, stays as it is.
pub(crate) fn recall(tx: &mut Tx<'_>, wish: &OutboxWish<'_>) -> Result<bool> {
    let Some((before, lane)) = lock(tx, wish.message)? else { return Ok(false) };
    if before.state != OutboxState::Waiting {
        return Ok(false);
    }
    take_back(tx, wish, lane)?;
    Ok(true)
}

/// When it began to be sent stays with one that may have arrived: nobody is reminded of the same thing soon after. Any other has not.
fn take_back(tx: &mut Tx<'_>, wish: &OutboxWish<'_>, lane: Uuid) -> Result<()> {
    tx.execute(
        "UPDATE outbox SET state = 'cancelled', job = NULL, not_before = NULL, waits_for = NULL,
                sending_at = CASE WHEN state = 'unknown' THEN sending_at END
         WHERE tenant_id = $1 AND message_id = $2",
        params![wish.message],
    )?;
    enqueue_head(tx, wish.queue, (lane, None), wish.now)
}

/// The message and its lane, held until the transaction ends, so that no job is at it meanwhile.
fn lock(tx: &mut Tx<'_>, message: MessageId) -> Result<Option<(OutboxView, Uuid)>> {
    let Some(lane) = queue::find_lane(tx, message)? else { return Ok(None) };
    queue::lock_lane(tx, lane)?;
    tx.optional(
        (
            "SELECT 1 FROM outbox WHERE tenant_id = $1 AND message_id = $2",
            "SELECT 1 FROM outbox WHERE tenant_id = $1 AND message_id = $2 FOR UPDATE",
        ),
        params![message],
        |_| Ok(()),
    )?;
    Ok(rows::find(tx, message)?.map(|row| (row, lane)))
}

/// Nobody has to look after it any more.
fn finish(tx: &mut Tx<'_>, wish: &OutboxWish<'_>, before: &OutboxView) -> Result<OutboxChange> {
    let after = rows::find(tx, wish.message)?;
    delivery_alerts::clear(tx, (wish.message, before.state), (wish.ids, wish.now))?;
    Ok(after.map_or(OutboxChange::Missing, |after| OutboxChange::Done(Box::new(after))))
}
