//! What the rules look at, as it is now.

use std::time::Duration;

use munshi_store::{Result, Tx, params, tenants};
use munshi_types::{OutboundMessage, OutboundPurpose, PersonId, Timestamp};
use uuid::Uuid;

use super::opt_outs;
use super::queue::LaneEntry;
use super::rules::{OutboundFacts, ReplyWindow};
use crate::reach;

/// Whoever calls holds the message's lane.
pub(super) fn load_facts(
    tx: &mut Tx<'_>,
    entry: &LaneEntry,
    outbound: &OutboundMessage,
    (window, now): (Option<Duration>, Timestamp),
) -> Result<OutboundFacts> {
    let heard_at = match entry.person {
        Some(person) => find_last_heard(tx, person, None)?,
        None => None,
    };
    let window = match (window, entry.person) {
        (Some(length), Some(person)) => {
            Some(ReplyWindow { length, heard_at: find_last_heard(tx, person, Some(outbound))? })
        }
        (Some(length), None) => Some(ReplyWindow { length, heard_at: None }),
        (None, _) => None,
    };
    let opted_out_at = match entry.recipient {
        Some(recipient) => opt_outs::find_time(tx, recipient)?,
        None => None,
    };
    let reminded_at = match entry.purpose {
        OutboundPurpose::Reminder => {
            lock_reminders(tx, entry)?;
            find_last_reminder(tx, entry)?
        }
        _ => None,
    };
    // Where people live is not known; a shop's customers mostly live where it does. Who works here may have said it.
    let chosen = match (entry.purpose, entry.person) {
        (OutboundPurpose::Alert, Some(person)) => reach::find_zone(tx, person)?,
        _ => None,
    };
    let zone = match chosen {
        Some(zone) => zone,
        None => tenants::find_zone(tx)?,
    };
    Ok(OutboundFacts {
        purpose: entry.purpose,
        now,
        made_at: entry.made_at,
        zone,
        heard_at,
        opted_out_at,
        reminded_at,
        window,
        has_template: outbound.template.is_some(),
        is_in_conversation: entry.session.is_some(),
    })
}

/// When somebody last wrote, in any of their conversations; with a message, on its channel.
fn find_last_heard(
    tx: &mut Tx<'_>,
    person: PersonId,
    on: Option<&OutboundMessage>,
) -> Result<Option<Timestamp>> {
    let channel = on.map(|outbound| outbound.to.channel.as_str());
    tx.one(
        "SELECT MAX((SELECT m.said_at FROM messages m
                     WHERE m.tenant_id = $1 AND m.session_id = s.id AND m.speaker = 'person'
                       AND m.channel = COALESCE($3, m.channel)
                     ORDER BY m.number DESC LIMIT 1))
         FROM sessions s WHERE s.tenant_id = $1 AND s.person_id = $2",
        params![person, channel],
        |row| row.get(0),
    )
}

/// Who wants to remind of one thing, or at one address, waits for others who do, until their transaction ends. SQLite has one writer. Behind
/// the lane, the smaller first, and nothing is locked behind them.
fn lock_reminders(tx: &mut Tx<'_>, entry: &LaneEntry) -> Result<()> {
    if tx.engine() == "postgres" {
        let lock =
            "SELECT 1 FROM pg_advisory_xact_lock(uuid_hash_extended($2, 19)) WHERE $1::uuid IS NOT NULL";
        let mut keys: Vec<Uuid> = entry.about.into_iter().chain(entry.recipient).collect();
        keys.sort();
        for key in keys {
            tx.send(lock, params![key])?;
        }
    }
    Ok(())
}

/// When somebody was reminded of the same thing, or at the same address, or may have been: from when on it was being sent, not from when it was
/// written.
fn find_last_reminder(tx: &mut Tx<'_>, entry: &LaneEntry) -> Result<Option<Timestamp>> {
    let of_this = match entry.about {
        Some(about) => tx.one(
            "SELECT MAX(COALESCE(sent_at, sending_at, made_at)) FROM outbox
             WHERE tenant_id = $1 AND about = $2 AND message_id <> $3 AND purpose = 'reminder'
               AND (state IN ('sending', 'sent', 'unknown') OR (state = 'cancelled' AND sending_at IS NOT NULL))",
            params![about, entry.message],
            |row| row.get::<Option<Timestamp>>(0),
        )?,
        None => None,
    };
    let there = match entry.recipient {
        Some(recipient) => tx.one(
            "SELECT MAX(COALESCE(sent_at, sending_at, made_at)) FROM outbox
             WHERE tenant_id = $1 AND recipient = $2 AND message_id <> $3 AND purpose = 'reminder'
               AND (state IN ('sending', 'sent', 'unknown') OR (state = 'cancelled' AND sending_at IS NOT NULL))",
            params![recipient, entry.message],
            |row| row.get::<Option<Timestamp>>(0),
        )?,
        None => None,
    };
    Ok(of_this.max(there))
}
