//! Whose a message is that left outside of a conversation. Those of conversations go with what was said there.

use munshi_identity::{PersonalData, persons};
use munshi_pack::{RecordData, outgoing};
use munshi_store::{Result, Tx, params};
use munshi_types::{MessageId, OutboundMessage, PersonId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::rows::BODY;
use super::{delivery_alerts, rows};
use crate::sealing::seal_by_owner;

pub(crate) const NOTICE_DATA: PersonalData =
    PersonalData { name: "outgoing messages", list_next: list_by_person, show, erase };

/// What was sent to a record of a pack, such as a reminder to a customer.
pub const RECORD_DATA: RecordData =
    RecordData { name: "outgoing messages", list_next: list_by_subject, show };

fn list_by_subject(tx: &mut Tx<'_>, subject: Uuid, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT message_id FROM outbox WHERE tenant_id = $1 AND subject_id = $2 AND message_id > $3
         ORDER BY message_id LIMIT $4",
        params![subject, after, limit],
        |row| row.get(0),
    )
}

fn list_by_person(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT message_id FROM outbox
         WHERE tenant_id = $1 AND person_id = $2 AND session_id IS NULL AND message_id > $3
         ORDER BY message_id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

fn show(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let message = MessageId::from_uuid(id);
    let (Some(row), Some(body)) = (rows::find(tx, message)?, rows::find_body(tx, message)?) else {
        return Ok(None);
    };
    Ok(Some(json!({
        "channel": row.channel,
        "address": body.to.address,
        "purpose": row.purpose,
        "subject": body.subject,
        "text": body.text,
        "attachments": body.attachments,
        "state": row.state,
        "made_at": row.made_at,
        "sent_at": row.sent_at,
        "delivered_at": row.delivered_at,
        "read_at": row.read_at,
    })))
}

/// What waits behind one of them goes when its job comes and finds nothing.
fn erase(tx: &mut Tx<'_>, messages: &[Uuid]) -> Result<u64> {
    delivery_alerts::delete(tx, messages)?;
    let mut erased = 0;
    for message in messages {
        erased +=
            tx.execute("DELETE FROM outbox WHERE tenant_id = $1 AND message_id = $2", params![*message])?;
    }
    Ok(erased)
}

/// Deletes what was sent to a record of a pack that is forgotten, and what is on its way from the pack. What waits behind one of them goes when
/// its job comes and finds nothing.
pub fn erase_of_subject(tx: &mut Tx<'_>, subject: Uuid) -> Result<u64> {
    let waiting = outgoing::delete_about(tx, subject)?;
    let messages = tx.all(
        "SELECT message_id FROM outbox WHERE tenant_id = $1 AND subject_id = $2",
        params![subject],
        |row| row.get::<Uuid>(0),
    )?;
    Ok(waiting + erase(tx, &messages)?)
}

/// Deletes some of those that a tenant keeps no longer, and says how many. What nobody has settled yet stays.
pub fn expire_notices(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64> {
    let messages = tx.all(
        "SELECT message_id FROM outbox
         WHERE tenant_id = $1 AND session_id IS NULL AND made_at < $2 AND state NOT IN ('waiting', 'sending')
         ORDER BY made_at, message_id LIMIT $3",
        params![before, limit],
        |row| row.get::<Uuid>(0),
    )?;
    erase_settled(tx, &messages)
}

/// One that somebody sends again this moment stays.
fn erase_settled(tx: &mut Tx<'_>, messages: &[Uuid]) -> Result<u64> {
    delivery_alerts::delete(tx, messages)?;
    let mut erased = 0;
    for message in messages {
        erased += tx.execute(
            "DELETE FROM outbox WHERE tenant_id = $1 AND message_id = $2 AND state NOT IN ('waiting', 'sending')",
            params![*message],
        )?;
    }
    Ok(erased)
}

/// Empties what a message said that leaves no more: its row stays. Who was forgotten meanwhile has none soon.
pub(crate) fn empty_body(tx: &mut Tx<'_>, message: MessageId) -> Result<()> {
    let Some(row) = rows::find(tx, message)? else { return Ok(()) };
    if let Some(person) = row.person
        && persons::find_living(tx, person)?.is_none()
    {
        return Ok(());
    }
    let Some(said) = rows::find_body(tx, message)? else { return Ok(()) };
    let emptied = OutboundMessage {
        subject: None,
        text: String::new(),
        attachments: Vec::new(),
        suggestions: Vec::new(),
        template: None,
        ..said
    };
    let by = seal_by_owner(tx, row.person)?;
    let body = tx.seal_json(by, BODY.cell(message), &emptied)?;
    tx.execute(
        "UPDATE outbox SET body = $3 WHERE tenant_id = $1 AND message_id = $2 AND state NOT IN ('waiting', 'sending')",
        params![message, body],
    )?;
    Ok(())
}

/// What was sent to somebody, and what they asked for, follows whoever they turned out to be.
pub(crate) fn move_person(tx: &mut Tx<'_>, from: PersonId, into: PersonId) -> Result<()> {
    tx.execute(
        "UPDATE outbox SET person_id = $3 WHERE tenant_id = $1 AND person_id = $2",
        params![from, into],
    )?;
    tx.execute(
        "UPDATE opt_outs SET person_id = $3 WHERE tenant_id = $1 AND person_id = $2",
        params![from, into],
    )?;
    Ok(())
}
