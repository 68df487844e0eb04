//! What the owner is told where nobody knows whether a message has arrived, or where one is given up of which nobody else would hear.

use munshi_pack::alerts::{self, AlertSource, StoredAlert, WordedAlert};
use munshi_pack::{Alert, AlertSeverity};
use munshi_store::{JsonText, Tx, params};
use munshi_types::{HOUSE, IdGenerator, MessageId, OutboundMessage, OutboundPurpose, PersonId, Timestamp};
use uuid::Uuid;

use super::rows::OutboxState;
use crate::error::Result;

const SOURCE: &str = "outbox";

/// Which alerts there are, by the first part of their key: what is said, and where such messages are listed.
const UNKNOWN: &str = "unknown";
const FAILED: &str = "failed";

/// Says how a message ended, where somebody has to look after it. Neither the words nor the address are in it: they are the recipient's. Call it last:
/// it writes to the audit.
pub(super) fn raise(
    tx: &mut Tx<'_>,
    outbound: &OutboundMessage,
    (person, state): (Option<PersonId>, OutboxState),
    (ids, now): (&IdGenerator, Timestamp),
) -> Result<()> {
    let (message, channel) = (outbound.id, outbound.to.channel);
    let (kind, phrase, text) = match (state, describe(outbound.purpose)) {
        (OutboxState::Unknown, _) => (
            UNKNOWN,
            "outbox-unknown",
            format!(
                "Nobody knows whether a message on {channel} has arrived. See `munshi outbox show {message}`; it is not sent again by itself."
            ),
        ),
        (OutboxState::Failed, Some(what)) => (
            FAILED,
            "outbox-failed",
            format!(
                "{what} on {channel} was not sent and is given up. `munshi outbox show {message}` says why, and `munshi outbox retry {message}` sends it again."
            ),
        ),
        _ => return Ok(()),
    };
    let alert = Alert {
        key: build_key(kind, message, person),
        severity: AlertSeverity::Warning,
        phrase: phrase.to_owned(),
        slots: Vec::new(),
    };
    Ok(alerts::raise(tx, &source(ids, now), &WordedAlert { alert, text })?)
}

/// What is given up without anybody hearing of it. Whoever asks for a code hears at once; an answer stands in the conversation; and a mail about
/// an alert that failed would go the same way.
const fn describe(purpose: OutboundPurpose) -> Option<&'static str> {
    match purpose {
        OutboundPurpose::Reminder => Some("A reminder"),
        OutboundPurpose::Notice => Some("A message that nobody asked for"),
        OutboundPurpose::Colleague => Some("A colleague's answer"),
        OutboundPurpose::Reply | OutboundPurpose::Alert | OutboundPurpose::Code => None,
    }
}

/// Somebody has looked after it, or the channel says by now. Call it last: it writes to the audit.
pub(super) fn clear(
    tx: &mut Tx<'_>,
    (message, before): (MessageId, OutboxState),
    (ids, now): (&IdGenerator, Timestamp),
) -> Result<()> {
    let kind = match before {
        OutboxState::Unknown => UNKNOWN,
        OutboxState::Failed => FAILED,
        _ => return Ok(()),
    };
    // Whose it was may have become another since.
    Ok(alerts::clear_under(tx, &source(ids, now), &build_key(kind, message, None))?)
}

/// Which message an alert is about; none for any other alert.
pub(crate) fn find_message(alert: &StoredAlert) -> Option<MessageId> {
    find_subject(alert).map(|(_, message)| message)
}

/// The command that lists the message that an alert is about.
pub(crate) fn find_hint(alert: &StoredAlert) -> Option<&'static str> {
    find_subject(alert).map(|(kind, _)| match kind {
        UNKNOWN => "munshi outbox list --state unknown",
        _ => "munshi outbox list --state failed",
    })
}

fn find_subject(alert: &StoredAlert) -> Option<(&str, MessageId)> {
    let is_ours = alert.pack == HOUSE && alert.heartbeat == SOURCE;
    let mut parts = alert.key.split('/').filter(|_| is_ours);
    match (parts.next(), parts.next()) {
        (Some(kind @ (UNKNOWN | FAILED)), Some(message)) => Some((kind, message.parse().ok()?)),
        _ => None,
    }
}

/// Of messages that are about to be deleted: nobody can look after them any more.
pub(crate) fn delete(tx: &mut Tx<'_>, messages: &[Uuid]) -> munshi_store::Result<()> {
    if messages.is_empty() {
        return Ok(());
    }
    let ids = JsonText::of(&messages.iter().map(|id| id.simple().to_string()).collect::<Vec<_>>())?;
    let told = tx.all(
        (
            "SELECT message_id FROM outbox WHERE tenant_id = $1 AND state IN ('unknown', 'failed')
               AND message_id IN (SELECT unhex(value) FROM json_each($2))",
            "SELECT message_id FROM outbox WHERE tenant_id = $1 AND state IN ('unknown', 'failed')
               AND message_id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![ids],
        |row| row.get::<Uuid>(0),
    )?;
    for message in told {
        alerts::delete_about(tx, message)?;
    }
    Ok(())
}

fn source(ids: &IdGenerator, now: Timestamp) -> AlertSource {
    AlertSource { pack: HOUSE, heartbeat: SOURCE, now, ids: ids.clone() }
}

/// With the person's id, by which it goes when they are forgotten.
fn build_key(kind: &str, message: MessageId, person: Option<PersonId>) -> String {
    match person {
        Some(person) => format!("{kind}/{message}/{person}"),
        None => format!("{kind}/{message}"),
    }
}
