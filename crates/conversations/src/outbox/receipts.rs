//! What a channel says of a message afterwards: that it has arrived, was read, or came back.

use std::time::Duration;

use munshi_jobs::JobQueue;
use munshi_store::{Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{IdGenerator, MessageId, PersonId, Timestamp};
use uuid::Uuid;

use super::delivery_alerts;
use super::delivery_job::enqueue_head;
use super::queue;
use super::recipient::hash_outside_id;
use super::rows::{self, DETAIL, OutboxState};
use super::settle::redact_reason;
use crate::error::Result;
use crate::sealing::{seal_by_owner, seal_optional};

/// What a channel says of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryReceipt {
    Delivered,
    Read,
    /// It did not arrive after all: a bounce, a number that is not there.
    Returned(String),
}

impl DeliveryReceipt {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Read => "read",
            Self::Returned(_) => "returned",
        }
    }

    /// Of an early one no more is kept than its kind.
    fn from_kind(kind: &str) -> Self {
        match kind {
            "delivered" => Self::Delivered,
            "read" => Self::Read,
            _ => Self::Returned("the channel returned it".to_owned()),
        }
    }
}

/// What a receipt is stored with, and when.
#[derive(Clone, Copy, Debug)]
pub struct ReceiptContext<'a> {
    pub queue: &'a JobQueue,
    pub ids: &'a IdGenerator,
    pub now: Timestamp,
}

/// A receipt may be quicker than the answer to what was sent. One that is older is none of ours.
const EARLY: Duration = Duration::from_secs(3600);

/// Stores a receipt, under the id that the channel gave when the message was sent. Which message it was; none where nobody knows it: then it is
/// kept a while, for one that is just being sent. Receipts come in any order and more than once: the first of each kind counts.
pub fn record_receipt(
    tx: &mut Tx<'_>,
    (channel, outside_id): (Channel, &str),
    receipt: &DeliveryReceipt,
    context: ReceiptContext<'_>,
) -> Result<Option<MessageId>> {
    let key = hash_outside_id(tx, channel, outside_id)?;
    let mut found = find_by_key(tx, key)?;
    if found.is_none() {
        // Whoever settles one this moment writes its key first, or reads this afterwards.
        lock_key(tx, key)?;
        found = find_by_key(tx, key)?;
    }
    match found {
        Some(message) => record_receipt_of(tx, message, receipt, context)?,
        None => keep_early(tx, key, receipt, context.now)?,
    }
    Ok(found)
}

/// The same where the channel says our own id of the message, as a mail's does: then nothing can be too early, and it is found though nobody
/// heard the answer when it was sent.
pub fn record_receipt_of(
    tx: &mut Tx<'_>,
    message: MessageId,
    receipt: &DeliveryReceipt,
    context: ReceiptContext<'_>,
) -> Result<()> {
    let ReceiptContext { queue, ids, now } = context;
    let lane = queue::find_lane(tx, message)?;
    if let Some(lane) = lane {
        queue::lock_lane(tx, lane)?;
    }
    let Some(before) = rows::find(tx, message)? else { return Ok(()) };
    store(tx, (message, before.person), receipt, now)?;
    // Its own job may come in the morning only: what waits behind it does not wait for that.
    if let Some(lane) = lane
        && before.state == OutboxState::Waiting
    {
        enqueue_head(tx, queue, (lane, None), now)?;
    }
    let after = rows::find(tx, message)?.map_or(before.state, |row| row.state);
    if before.state == OutboxState::Unknown {
        delivery_alerts::clear(tx, (message, before.state), (ids, now))?;
    }
    if after == OutboxState::Failed
        && after != before.state
        && let Some(outbound) = rows::find_body(tx, message)?
    {
        delivery_alerts::raise(tx, &outbound, (before.person, after), (ids, now))?;
    }
    Ok(())
}

/// What came under a message's key before the key was known, and whether anything did. Whoever calls holds its lane.
pub(super) fn apply_early(
    tx: &mut Tx<'_>,
    (message, person): (MessageId, Option<PersonId>),
    key: Uuid,
) -> munshi_store::Result<bool> {
    lock_key(tx, key)?;
    let early = tx.all(
        "SELECT kind, heard_at FROM early_receipts WHERE tenant_id = $1 AND receipt_key = $2 ORDER BY heard_at, kind",
        params![key],
        |row| Ok((DeliveryReceipt::from_kind(&row.get::<String>(0)?), row.get::<Timestamp>(1)?)),
    )?;
    for (receipt, heard_at) in &early {
        store(tx, (message, person), receipt, *heard_at)?;
    }
    if !early.is_empty() {
        tx.execute("DELETE FROM early_receipts WHERE tenant_id = $1 AND receipt_key = $2", params![key])?;
    }
    Ok(!early.is_empty())
}

fn find_by_key(tx: &mut Tx<'_>, key: Uuid) -> munshi_store::Result<Option<MessageId>> {
    tx.optional(
        "SELECT message_id FROM outbox WHERE tenant_id = $1 AND receipt_key = $2 ORDER BY made_at DESC LIMIT 1",
        params![key],
        |row| row.get(0),
    )
}

/// Until the transaction ends. SQLite has one writer.
fn lock_key(tx: &mut Tx<'_>, key: Uuid) -> munshi_store::Result<()> {
    if tx.engine() == "postgres" {
        let lock =
            "SELECT 1 FROM pg_advisory_xact_lock(uuid_hash_extended($2, 23)) WHERE $1::uuid IS NOT NULL";
        tx.send(lock, params![key])?;
    }
    Ok(())
}

fn keep_early(
    tx: &mut Tx<'_>,
    key: Uuid,
    receipt: &DeliveryReceipt,
    now: Timestamp,
) -> munshi_store::Result<()> {
    tx.execute(
        "DELETE FROM early_receipts WHERE tenant_id = $1 AND heard_at < $2",
        params![now.minus(EARLY)],
    )?;
    tx.execute(
        "INSERT INTO early_receipts (tenant_id, receipt_key, kind, heard_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, receipt_key, kind) DO NOTHING",
        params![key, receipt.kind(), now],
    )?;
    Ok(())
}

/// One that is sent a second time, since nobody knew of the first, is not sent any more; where it is under way already, its end hears of it.
fn store(
    tx: &mut Tx<'_>,
    (message, person): (MessageId, Option<PersonId>),
    receipt: &DeliveryReceipt,
    heard_at: Timestamp,
) -> munshi_store::Result<()> {
    match receipt {
        DeliveryReceipt::Delivered | DeliveryReceipt::Read => {
            let read_at = (*receipt == DeliveryReceipt::Read).then_some(heard_at);
            tx.execute(
                "UPDATE outbox SET delivered_at = COALESCE(delivered_at, $3), read_at = COALESCE(read_at, $4),
                        sent_at = CASE WHEN state IN ('sending', 'failed') THEN sent_at ELSE COALESCE(sent_at, $3) END,
                        state = CASE WHEN state IN ('sending', 'failed') THEN state ELSE 'sent' END,
                        not_before = NULL, waits_for = NULL
                 WHERE tenant_id = $1 AND message_id = $2",
                params![message, heard_at, read_at],
            )?;
        }
        DeliveryReceipt::Returned(why) => {
            let by = seal_by_owner(tx, person)?;
            let detail = seal_optional(tx, by, DETAIL.cell(message), Some(&redact_reason(None, why)))?;
            tx.execute(
                "UPDATE outbox SET state = 'failed', detail = $3
                 WHERE tenant_id = $1 AND message_id = $2 AND state IN ('sent', 'unknown') AND delivered_at IS NULL",
                params![message, detail],
            )?;
        }
    }
    Ok(())
}
