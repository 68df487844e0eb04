//! Messages to contacts about what they owe.

use std::time::Duration;

use munshi_pack::outgoing::OutboxReader;
use munshi_store::{PageRequest, Row, Tx, params};
use munshi_types::{IdGenerator, MessageId, Money, Timestamp};
use serde::Serialize;

use super::contacts;
use super::ids::{ContactId, ReminderId};
use crate::error::{Error, Result};

/// Nobody is reminded twice within this.
pub const PAUSE: Duration = Duration::from_secs(3 * 24 * 3600);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reminder {
    pub id: ReminderId,
    pub contact: ContactId,
    pub amount: Money,
    pub words: String,
    pub due_at: Timestamp,
    pub state: String,
}

/// Plans a reminder about what a contact owes now.
pub fn add(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    now: Timestamp,
    contact: ContactId,
    words: &str,
    due_at: Timestamp,
) -> Result<Reminder> {
    let contact = contacts::get(tx, contact)?;
    if contact.balance <= Money::ZERO {
        return Err(Error::invalid(format!(
            "{} owes nothing, so there is nothing to remind of",
            contact.name
        )));
    }
    let reminder = Reminder {
        id: ids.next(),
        contact: contact.id,
        amount: contact.balance,
        words: words.to_owned(),
        due_at,
        state: "waiting".to_owned(),
    };
    tx.execute(
        "INSERT INTO ledger_reminders (tenant_id, id, contact_id, amount, words, due_at, state, made_at, ended_at)
         VALUES ($1, $2, $3, $4, $5, $6, 'waiting', $7, NULL)",
        params![reminder.id, reminder.contact, reminder.amount, reminder.words, due_at, now],
    )?;
    Ok(reminder)
}

/// What became of a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReminderOutcome {
    Sent,
    Dropped,
}

/// Ends a reminder that waits; false when it had ended before.
pub fn end(tx: &mut Tx<'_>, id: ReminderId, end: ReminderOutcome, now: Timestamp) -> Result<bool> {
    let state = match end {
        ReminderOutcome::Sent => "sent",
        ReminderOutcome::Dropped => "dropped",
    };
    let ended = tx.execute(
        "UPDATE ledger_reminders SET state = $3, ended_at = $4 WHERE tenant_id = $1 AND id = $2 AND state = 'waiting'",
        params![id, state, now],
    )?;
    Ok(ended == 1)
}

/// Notes by which message a reminder was sent: it counts for as long as that did not fail.
pub fn note_message(tx: &mut Tx<'_>, id: ReminderId, message: MessageId) -> Result<()> {
    tx.execute(
        "UPDATE ledger_reminders SET message_id = $3 WHERE tenant_id = $1 AND id = $2",
        params![id, message],
    )?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, id: ReminderId) -> Result<Option<Reminder>> {
    Ok(tx.optional(
        "SELECT id, contact_id, amount, words, due_at, state FROM ledger_reminders WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?)
}

/// What was drafted for a contact last and neither sent nor dropped.
pub fn find_waiting(tx: &mut Tx<'_>, contact: ContactId) -> Result<Option<Reminder>> {
    let root = contacts::get(tx, contact)?.id;
    let mut found: Option<Reminder> = None;
    for one in contacts::list_group(tx, root)? {
        let of_one = tx.optional(
            "SELECT id, contact_id, amount, words, due_at, state FROM ledger_reminders
             WHERE tenant_id = $1 AND contact_id = $2 AND state = 'waiting' ORDER BY due_at DESC, id DESC LIMIT 1",
            params![one],
            read,
        )?;
        found = found.into_iter().chain(of_one).max_by_key(|reminder| reminder.due_at);
    }
    Ok(found)
}

/// Drops what waits for a contact.
pub fn drop_waiting(tx: &mut Tx<'_>, contact: ContactId, now: Timestamp) -> Result<()> {
    while let Some(reminder) = find_waiting(tx, contact)? {
        end(tx, reminder.id, ReminderOutcome::Dropped, now)?;
    }
    Ok(())
}

/// Those that should have gone out by now, the oldest first.
pub fn list_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Vec<Reminder>> {
    Ok(tx.all(
        "SELECT id, contact_id, amount, words, due_at, state FROM ledger_reminders
         WHERE tenant_id = $1 AND state = 'waiting' AND due_at <= $2 ORDER BY due_at, id LIMIT $3",
        params![now, PageRequest::LARGEST],
        read,
    )?)
}

/// Whether a contact may be reminded again, whichever of the names merged into it was reminded last. What was sent by a message that did not
/// leave, as far as the outbox is asked, was never sent.
pub fn may_remind(
    tx: &mut Tx<'_>,
    contact: ContactId,
    now: Timestamp,
    outbox: Option<&dyn OutboxReader>,
) -> Result<bool> {
    let root = contacts::get(tx, contact)?.id;
    for one in contacts::list_group(tx, root)? {
        let sent = tx.all(
            "SELECT message_id FROM ledger_reminders
             WHERE tenant_id = $1 AND contact_id = $2 AND state = 'sent' AND ended_at > $3",
            params![one, now.minus(PAUSE)],
            |row| row.get::<Option<MessageId>>(0),
        )?;
        for message in sent {
            let has_failed = match (message, outbox) {
                (Some(message), Some(outbox)) => outbox.has_failed(tx, message)?,
                _ => false,
            };
            if !has_failed {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn read(row: &Row<'_>) -> munshi_store::Result<Reminder> {
    Ok(Reminder {
        id: row.get(0)?,
        contact: row.get(1)?,
        amount: row.get(2)?,
        words: row.get(3)?,
        due_at: row.get(4)?,
        state: row.get(5)?,
    })
}
