//! What the owner is told where nobody knows whether a message has arrived.

use munshi_pack::alerts::{self, AlertSource, StoredAlert, WordedAlert};
use munshi_pack::{Alert, AlertSeverity};
use munshi_store::{JsonText, Tx, params};
use munshi_types::{HOUSE, IdGenerator, MessageId, OutboundMessage, PersonId, Timestamp};
use uuid::Uuid;

use crate::error::Result;

const SOURCE: &str = "outbox";
const PHRASE: &str = "outbox-unknown";

/// Neither the words nor the address are in it: they are the recipient's. Call it last: it writes to the audit.
pub(super) fn raise(
    tx: &mut Tx<'_>,
    outbound: &OutboundMessage,
    person: Option<PersonId>,
    (ids, now): (&IdGenerator, Timestamp),
) -> Result<()> {
    let (message, channel) = (outbound.id, outbound.to.channel);
    let text = format!(
        "Nobody knows whether a message on {channel} has arrived. See `munshi outbox show {message}`; it is not sent again by itself."
    );
    let alert = Alert {
        key: build_key(message, person),
        severity: AlertSeverity::Warning,
        phrase: PHRASE.to_owned(),
        slots: Vec::new(),
    };
    Ok(alerts::raise(tx, &source(ids, now), &WordedAlert { alert, text })?)
}

/// Somebody has looked after it, or the channel says by now. Call it last: it writes to the audit.
pub(super) fn clear(
    tx: &mut Tx<'_>,
    message: MessageId,
    (ids, now): (&IdGenerator, Timestamp),
) -> Result<()> {
    // Whose it was may have become another since.
    Ok(alerts::clear_under(tx, &source(ids, now), &build_key(message, None))?)
}

/// Which message an alert is about; none for any other alert.
pub(crate) fn find_message(alert: &StoredAlert) -> Option<MessageId> {
    let is_ours = alert.pack == HOUSE && alert.heartbeat == SOURCE;
    let mut parts = alert.key.split('/').filter(|_| is_ours);
    match (parts.next(), parts.next()) {
        (Some("unknown"), Some(message)) => message.parse().ok(),
        _ => None,
    }
}

/// Of messages that are about to be deleted: nobody can look after them any more.
pub(crate) fn delete(tx: &mut Tx<'_>, messages: &[Uuid]) -> munshi_store::Result<()> {
    if messages.is_empty() {
        return Ok(());
    }
    let ids = JsonText::of(&messages.iter().map(|id| id.simple().to_string()).collect::<Vec<_>>())?;
    let unknown = tx.all(
        (
            "SELECT message_id FROM outbox WHERE tenant_id = $1 AND state = 'unknown'
               AND message_id IN (SELECT unhex(value) FROM json_each($2))",
            "SELECT message_id FROM outbox WHERE tenant_id = $1 AND state = 'unknown'
               AND message_id IN (SELECT value::uuid FROM jsonb_array_elements_text($2::jsonb))",
        ),
        params![ids],
        |row| row.get::<Uuid>(0),
    )?;
    for message in unknown {
        alerts::delete_about(tx, message)?;
    }
    Ok(())
}

fn source(ids: &IdGenerator, now: Timestamp) -> AlertSource {
    AlertSource { pack: HOUSE, heartbeat: SOURCE, now, ids: ids.clone() }
}

/// With the person's id, by which it goes when they are forgotten.
fn build_key(message: MessageId, person: Option<PersonId>) -> String {
    match person {
        Some(person) => format!("unknown/{message}/{person}"),
        None => format!("unknown/{message}"),
    }
}
